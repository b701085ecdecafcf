// Queues against their rules, and tensors used when they are not the kernel's.
#include <defect.h>

DEFECT(enqueued_twice, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    if (kBroken) queue.EnQue(a); // here
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
}

DEFECT(dequeued_from_an_empty_queue, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    if (!kBroken) queue.EnQue(a);
    auto b = queue.DeQue<float>(); // here
    queue.FreeTensor(kBroken ? a : b);
}

DEFECT(freed_twice, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
    if (kBroken) queue.FreeTensor(a); // here
}

DEFECT(freed_into_another_queue, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    InQueue other;
    pipe.InitBuffer(queue, 1, 1024);
    pipe.InitBuffer(other, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    if (kBroken) other.FreeTensor(a); // here
    queue.FreeTensor(a);
}

DEFECT(never_freed, "queue-misuse?", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>(); // here
    if (!kBroken) queue.FreeTensor(a);
}

DEFECT(not_freed_before_reset, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>(); // here
    if (!kBroken) queue.FreeTensor(a);
    pipe.Reset();
    pipe.InitBuffer(queue, 1, 1024);
    a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
}

DEFECT(not_freed_before_the_next, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    for (int tile = 0; tile < 2; ++tile) {
        auto a = queue.AllocTensor<float>(); // here
        DataCopy(a, m.x, 256);
        queue.EnQue(a);
        a = queue.DeQue<float>();
        if (!kBroken) queue.FreeTensor(a);
    }
}

DEFECT(never_dequeued, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a); // here
    if (!kBroken) {
        a = queue.DeQue<float>();
        queue.FreeTensor(a);
    }
}

DEFECT(more_tensors_than_buffers, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, kBroken ? 1 : 2, 1024);
    auto a = queue.AllocTensor<float>();
    auto b = queue.AllocTensor<float>(); // here
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
    queue.FreeTensor(b);
}

DEFECT(more_enqueued_than_the_depth, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, kBroken ? 1 : 2> queue;
    pipe.InitBuffer(queue, 2, 1024);
    auto a = queue.template AllocTensor<float>();
    auto b = queue.template AllocTensor<float>();
    DataCopy(a, m.x, 256);
    DataCopy(b, m.y, 256);
    queue.EnQue(a);
    queue.EnQue(b); // here
    a = queue.template DeQue<float>();
    queue.FreeTensor(a);
    if (!kBroken) b = queue.template DeQue<float>();
    queue.FreeTensor(b);
}

DEFECT(used_after_free, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    if (kBroken) queue.FreeTensor(a);
    Adds(Ub(8192), a, 1.0f, 256); // here
    if (!kBroken) queue.FreeTensor(a);
}

DEFECT(refilled_after_free, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    Adds(Ub(8192), a, 1.0f, 256);
    queue.FreeTensor(a);
    auto b = queue.AllocTensor<float>();
    // The handle of the tensor that was given back instead of the new one's.
    DataCopy(kBroken ? a : b, m.y, 256); // here
    queue.EnQue(b);
    b = queue.DeQue<float>();
    queue.FreeTensor(b);
}

DEFECT(output_written_after_free, "queue-misuse", 1)
{
    TPipe pipe;
    OutQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    Duplicate(a, 1.0f, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    if (kBroken) queue.FreeTensor(a);
    DataCopy(m.z, a, 256); // here
    if (!kBroken) queue.FreeTensor(a);
}
