// Flags set and waited for against their rules, and waits that never end.
#include <defect.h>

DEFECT(wait_without_a_set, "deadlock", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) SetFlag<MTE2_V>(0);
    WaitFlag<MTE2_V>(0); // here
    Adds(Ub(1024), Ub(0), 1.0f, 256);
}

DEFECT(wait_for_another_id, "deadlock", 1)
{
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    WaitFlag<MTE2_V>(kBroken ? 1 : 0); // here
    Adds(Ub(1024), Ub(0), 1.0f, 256);
}

DEFECT(two_pipes_wait_for_each_other, "deadlock", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Duplicate(Ub(2048), 1.0f, 256);
    if (!kBroken) SetFlag<V_MTE3>(0);
    WaitFlag<V_MTE3>(0); // here
    DataCopy(m.z, Ub(0), 256);
    SetFlag<MTE3_V>(0);
    WaitFlag<MTE3_V>(0);
    if (kBroken) SetFlag<V_MTE3>(0);
}

DEFECT(three_pipes_wait_in_a_circle, "deadlock", 1)
{
    if (!kBroken) SetFlag<MTE3_MTE2>(0);
    WaitFlag<MTE3_MTE2>(0); // here
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(1024), 256);
    if (kBroken) SetFlag<MTE3_MTE2>(0);
}

DEFECT(set_once_and_waited_for_twice, "deadlock", 1)
{
    for (int32_t tile = 0; tile < 2; ++tile) {
        DataCopy(Ub(tile * 1024), m.x, 256);
        if (!kBroken || tile == 0) SetFlag<MTE2_V>(0);
        WaitFlag<MTE2_V>(0); // here
        Adds(Ub(4096), Ub(tile * 1024), 1.0f, 256);
    }
}

DEFECT(flag_left_set, "flag-misuse?", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256);
    if (kBroken) SetFlag<V_MTE2>(3); // here
}

DEFECT(set_again_before_the_wait, "flag-misuse", 1)
{
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    DataCopy(Ub(1024), m.y, 256);
    SetFlag<MTE2_V>(kBroken ? 0 : 1); // here
    WaitFlag<MTE2_V>(0);
    WaitFlag<MTE2_V>(kBroken ? 0 : 1);
    Add(Ub(2048), Ub(0), Ub(1024), 256);
}

DEFECT(more_event_ids_than_there_are, "flag-misuse", 1)
{
    TPipe pipe;
    TEventID ids[9];
    for (int i = 0; i < (kBroken ? 9 : 8); ++i) {
        ids[i] = pipe.AllocEventID<MTE2_V>(); // here
    }
    pipe.ReleaseEventID<MTE2_V>(ids[0]);
}

DEFECT(event_id_that_is_not_there, "flag-misuse", 1)
{
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(kBroken ? 8 : 7); // here
    WaitFlag<MTE2_V>(kBroken ? 8 : 7);
    Adds(Ub(1024), Ub(0), 1.0f, 256);
}

DEFECT(scalar_unit_waits_for_what_it_issues_later, "deadlock", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) SetFlag<MTE2_S>(0);
    WaitFlag<MTE2_S>(0); // here
    if (kBroken) SetFlag<MTE2_S>(0);
    Ub(0).GetValue(0);
}

DEFECT(barrier_behind_a_wait_without_a_set, "deadlock", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken) SetFlag<V_MTE3>(0);
    WaitFlag<V_MTE3>(0); // here
    DataCopy(m.z, Ub(0), 256);
    PipeBarrier<PIPE_ALL>();
}

DEFECT(id_of_a_queue_used_by_hand, "flag-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto a = queue.AllocTensor<float>();
    DataCopy(a, m.x, 256);
    DataCopy(Ub(8192), m.y, 256);
    SetFlag<MTE2_V>(kBroken ? 0 : 1);
    queue.EnQue(a); // here
    WaitFlag<MTE2_V>(kBroken ? 0 : 1);
    Adds(Ub(12288), Ub(8192), 1.0f, 256);
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
}

DEFECT(set_again_while_the_waiting_pipe_stands, "flag-misuse", 1)
{
    Duplicate(Ub(4096), 1.0f, 256);
    // The vector unit stands at a flag of the copy out, which comes behind the second set.
    DataCopy(Ub(0), m.x, 256);
    WaitFlag<MTE3_V>(0);
    SetFlag<MTE2_V>(0);
    WaitFlag<MTE2_V>(0);
    DataCopy(Ub(1024), m.y, 256);
    SetFlag<MTE2_V>(kBroken ? 0 : 1); // here
    WaitFlag<MTE2_V>(kBroken ? 0 : 1);
    SetFlag<MTE3_V>(0);
    Add(Ub(2048), Ub(0), Ub(1024), 256);
}
