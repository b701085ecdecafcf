// Addresses and lengths against the rules of an instruction.
#include <defect.h>

DEFECT(copy_of_a_length_that_is_no_block, "misaligned", 1)
{
    DataCopy(Ub(0), m.x, kBroken ? 100 : 104); // here
}

DEFECT(copy_out_of_a_length_that_is_no_block, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    if (kBroken) DataCopy(m.z, Ub(0), 250); // here
    else DataCopyPad(m.z, Ub(0), DataCopyExtParams(1, 1000, 0, 0, 0));
}

DEFECT(copy_to_an_address_that_is_no_block, "misaligned", 1)
{
    DataCopy(Ub(kBroken ? 4 : 32), m.x, 256); // here
}

DEFECT(copy_from_an_address_that_is_no_block, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 512);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0)[kBroken ? 3 : 8], 256); // here
}

DEFECT(vector_destination_that_is_no_block, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 512);
    Adds(Ub(4096)[kBroken ? 1 : 8], Ub(0), 1.0f, 64); // here
}

DEFECT(vector_source_that_is_no_block, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 512);
    Adds(Ub(4096), Ub(0)[kBroken ? 1 : 8], 1.0f, 64); // here
}

DEFECT(rows_of_a_length_that_is_no_block, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 512);
    for (uint32_t row = 0; row < 4; ++row) {
        // Rows of 50 elements, one behind the other.
        Adds(Ub(4096), Ub(0)[row * (kBroken ? 50 : 56)], 1.0f, 50); // here
    }
}

DEFECT(scalar_result_at_an_odd_address, "misaligned", 1)
{
    Duplicate(Ub(0), 1.0f, 64);
    WholeReduceSum(Ub<float>(kBroken ? 2050 : 2052, 8), Ub(0), 64, 1, 1, 1, 8); // here
}
