// Tiling data classes lay out their fields like a C struct, also nested and after copies.
#include <cstddef>
#include <cstring>

#include "host_check.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(InnerTiling)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(InnerTilingOp, InnerTiling)

BEGIN_TILING_DATA_DEF(OuterTiling)
TILING_DATA_FIELD_DEF(uint32_t, total);
TILING_DATA_FIELD_DEF(int64_t, offset);
TILING_DATA_FIELD_DEF(uint16_t, tail);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 3, lengths);
TILING_DATA_FIELD_DEF_STRUCT(InnerTiling, inner);
TILING_DATA_FIELD_DEF(bool, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(OuterOp, OuterTiling)
} // namespace optiling

namespace {
struct PlainInner {
    uint8_t flag;
    uint32_t rows;
    float scale;
    uint32_t padding; // nested classes are padded to 8 bytes
};
struct alignas(8) PlainOuter {
    uint32_t total;
    int64_t offset;
    uint16_t tail;
    uint32_t lengths[3];
    alignas(8) PlainInner inner;
    bool last;
};

void Fill(optiling::OuterTiling& tiling)
{
    tiling.set_total(7);
    tiling.set_offset(-5);
    tiling.set_tail(9);
    const uint32_t lengths[3] = {1, 2, 3};
    tiling.set_lengths(lengths);
    tiling.inner.set_flag(1);
    tiling.inner.set_rows(11);
    tiling.inner.set_scale(0.5F);
    tiling.set_last(true);
}

bool Matches(const PlainOuter& plain)
{
    return plain.total == 7 && plain.offset == -5 && plain.tail == 9 && plain.lengths[2] == 3 && plain.inner.flag == 1 &&
           plain.inner.rows == 11 && plain.inner.scale == 0.5F && plain.last;
}
} // namespace

int main()
{
    optiling::OuterTiling tiling;
    CHECK(tiling.GetDataSize() == sizeof(PlainOuter));
    CHECK(tiling.inner.GetDataSize() == sizeof(PlainInner));
    const size_t offsets[] = {offsetof(PlainOuter, total),   offsetof(PlainOuter, offset), offsetof(PlainOuter, tail),
                              offsetof(PlainOuter, lengths), offsetof(PlainOuter, inner),  offsetof(PlainOuter, last)};
    CHECK(tiling.GetFields().size() == 6);
    for (size_t i = 0; i < tiling.GetFields().size() && i < 6; ++i) {
        CHECK(tiling.GetFields()[i].offset == offsets[i]);
    }
    CHECK(tiling.GetFields()[3].count == 3 && tiling.GetFields()[4].is_struct);

    Fill(tiling);
    CHECK(tiling.get_offset() == -5 && tiling.get_lengths()[1] == 2);
    PlainOuter plain;
    std::memset(static_cast<void*>(&plain), 0xCD, sizeof(plain));
    tiling.SaveToBuffer(&plain, sizeof(plain) - 1); // too small: nothing may be written
    CHECK(plain.tail == 0xCDCD);
    tiling.SaveToBuffer(&plain, sizeof(plain));
    CHECK(Matches(plain));

    // A copy is independent, nested parts included.
    optiling::OuterTiling copy = tiling;
    tiling.inner.set_rows(99);
    copy.SaveToBuffer(&plain, sizeof(plain));
    CHECK(Matches(plain));

    // Memory of the caller.
    PlainOuter direct;
    std::memset(static_cast<void*>(&direct), 0, sizeof(direct));
    optiling::OuterTiling view(&direct);
    Fill(view);
    CHECK(Matches(direct));

    const auto made = optiling::CTilingDataClassFactory::GetInstance().CreateTilingDataInstance("OuterOp");
    CHECK(made != nullptr && made->GetDataSize() == sizeof(PlainOuter));
    CHECK(optiling::CTilingDataClassFactory::GetInstance().CreateTilingDataInstance("NoSuchOp") == nullptr);
    int nested = 0;
    made->VisitNested([&](const optiling::TilingDef& part) {
        ++nested;
        CHECK(std::strcmp(part.GetTilingClassName(), "InnerTiling") == 0);
    });
    CHECK(nested == 1);
    return CHECK_RESULT();
}
