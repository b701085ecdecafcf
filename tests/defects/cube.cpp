// The memories of the cube core: L1, L0A, L0B, L0C. Here the compiler adds nothing.
#include <defect.h>

DEFECT(loaded_before_it_is_in_l1, "race", 1)
{
    Fetch(m, 0);
    if (!kBroken) Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0); // here
}

DEFECT(l1_refilled_while_it_is_loaded_from, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    if (!kBroken) Order<MTE1_MTE2>();
    Fetch(m, 256); // here
}

DEFECT(multiplied_before_it_is_loaded, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    if (!kBroken) Order<MTE1_M>();
    Multiply(); // here
}

DEFECT(loaded_over_a_running_product, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    if (!kBroken) Order<M_MTE1>();
    Load<TPosition::B2>(0, 0); // here
}

DEFECT(drained_before_the_product_is_done, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    if (!kBroken) Order<M_FIX>();
    Drain(m); // here
}

DEFECT(product_over_what_is_being_drained, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    Drain(m);
    if (!kBroken) Order<FIX_M>();
    Multiply(); // here
}

DEFECT(l1_behind_its_end, "out-of-bounds-on-chip", 1)
{
    Fetch(m, 524288 - (kBroken ? 256 : 512)); // here
}

DEFECT(product_of_a_flag_that_never_comes, "deadlock", 1)
{
    Fetch(m, 0);
    if (!kBroken) SetFlag<MTE2_MTE1>(0);
    WaitFlag<MTE2_MTE1>(0); // here
    Load<TPosition::A2>(0, 0);
}
