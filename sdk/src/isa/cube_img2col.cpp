// 3D loads: a window slides over a feature map in L1, and the rows that it makes go to L0A or L0B as fractals.
#include <algorithm>

#include "isa/operands.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {


struct FeatureMap {
    uint32_t width, height;
    uint32_t left, right, top, bottom;
};

FeatureMap Unpack(uint64_t word)
{
    return {static_cast<uint32_t>(word & 0xFFFFu),     static_cast<uint32_t>(word >> 16 & 0xFFFFu),
            static_cast<uint32_t>(word >> 32 & 0xFFu), static_cast<uint32_t>(word >> 40 & 0xFFu),
            static_cast<uint32_t>(word >> 48 & 0xFFu), static_cast<uint32_t>(word >> 56)};
}

/// The matrix that the sliding window makes: rows are positions, columns are (group of channels, point of the window, channel).
class Windows {
public:
    Windows(const Core& core, const FeatureMap& map, const cube::Load3d& p, uint32_t bits, const uint8_t* base)
        : core_(core), map_(map), p_(p), bits_(bits), base_(base)
    {
        lanes_ = kBlock * 8 / bits;
        filter_w_ = p.filter_w + (p.filter_w_high ? 256u : 0u);
        filter_h_ = p.filter_h + (p.filter_h_high ? 256u : 0u);
        const uint32_t span_w = (filter_w_ - 1) * p.dilation_w + 1;
        const uint32_t span_h = (filter_h_ - 1) * p.dilation_h + 1;
        const uint32_t padded_w = map.width + map.left + map.right;
        const uint32_t padded_h = map.height + map.top + map.bottom;
        out_w_ = padded_w < span_w || p.stride_w == 0 ? 0 : (padded_w - span_w) / p.stride_w + 1;
        out_h_ = padded_h < span_h || p.stride_h == 0 ? 0 : (padded_h - span_h) / p.stride_h + 1;
    }

    uint32_t Lanes() const { return lanes_; }
    uint32_t Rows() const { return out_w_ * out_h_; }
    uint32_t Columns() const { return filter_w_ * filter_h_ * p_.channels; }
    /// Bytes of the feature map in L1.
    uint64_t Bytes() const { return uint64_t{map_.width} * map_.height * p_.channels * bits_ / 8; }

    /// Bits of an element of those channels that do not fill a block, which come last, packed; outside the map the padding value.
    uint32_t Rest(uint32_t row, uint32_t column) const
    {
        const uint32_t full = p_.channels / lanes_ * lanes_;
        const uint32_t width = p_.channels - full;
        const uint32_t within = column - filter_w_ * filter_h_ * full;
        const uint32_t point = within / width;
        const uint32_t x = row % out_w_ * p_.stride_w + point % filter_w_ * p_.dilation_w;
        const uint32_t y = row / out_w_ * p_.stride_h + point / filter_w_ * p_.dilation_h;
        if (x < map_.left || y < map_.top || x - map_.left >= map_.width || y - map_.top >= map_.height) {
            return static_cast<uint32_t>(core_.cube.padding);
        }
        const uint64_t pixel = uint64_t{y - map_.top} * map_.width + (x - map_.left);
        const uint64_t element = uint64_t{full} * map_.width * map_.height + pixel * width + within % width;
        const uint8_t* at = base_ + element * bits_ / 8;
        const uint64_t ring = core_.cube.l1_3d_size;
        if (ring != 0 && static_cast<uint64_t>(at - core_.l1) >= ring) {
            at -= ring;
        }
        switch (bits_) {
            case 4:
                return static_cast<uint32_t>(*at >> (element % 2 * 4)) & 15u;
            case 8:
                return *at;
            case 16:
                return Load<uint16_t>(at);
            default:
                return Load<uint32_t>(at);
        }
    }

    /// A block of channels that starts at `column`, a multiple of Lanes(): copies its 32 bytes.
    void Block(uint32_t row, uint32_t column, uint8_t* to) const
    {
        const uint32_t full = p_.channels / lanes_ * lanes_;
        if (row >= Rows() || column >= filter_w_ * filter_h_ * full) {
            std::memset(to, 0, kBlock);
            for (uint32_t lane = 0; row < Rows() && column + lane < Columns() && lane < lanes_; ++lane) {
                PutLane(to, lane, Rest(row, column + lane));
            }
            return;
        }
        const uint32_t point = column / lanes_ % (filter_w_ * filter_h_);
        const uint32_t group = column / lanes_ / (filter_w_ * filter_h_);
        const uint32_t x = row % out_w_ * p_.stride_w + point % filter_w_ * p_.dilation_w;
        const uint32_t y = row / out_w_ * p_.stride_h + point / filter_w_ * p_.dilation_h;
        if (x < map_.left || y < map_.top || x - map_.left >= map_.width || y - map_.top >= map_.height) {
            for (uint32_t lane = 0; lane < lanes_; ++lane) {
                PutLane(to, lane, static_cast<uint32_t>(core_.cube.padding));
            }
            return;
        }
        const uint64_t pixel = uint64_t{y - map_.top} * map_.width + (x - map_.left);
        const uint8_t* at = base_ + (uint64_t{group} * map_.width * map_.height + pixel) * kBlock;
        const uint64_t ring = core_.cube.l1_3d_size;
        if (ring != 0 && static_cast<uint64_t>(at - core_.l1) >= ring) {
            at -= ring;
        }
        std::memcpy(to, at, kBlock);
    }

    void PutLane(uint8_t* block, uint32_t lane, uint32_t value) const
    {
        if (bits_ == 4) {
            const uint32_t shift = lane % 2 * 4;
            block[lane / 2] = static_cast<uint8_t>((block[lane / 2] & ~(15u << shift)) | (value & 15u) << shift);
        } else {
            std::memcpy(block + lane * bits_ / 8, &value, bits_ / 8);
        }
    }

private:
    const Core& core_;
    FeatureMap map_;
    const cube::Load3d& p_;
    uint32_t bits_;
    const uint8_t* base_;
    uint32_t lanes_, filter_w_, filter_h_, out_w_, out_h_;
};

}  // namespace
}  // namespace isa

namespace cube {

using namespace isa;

void Img2col(uint8_t element, Place place, void* dst, const void* src, const Load3d& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint16_t opcode = place == Place::kL0a ? kOp_img2colv2_cbuf_to_ca : kOp_img2colv2_cbuf_to_cb;
    const uint32_t bits = ElementBits(element);
    const FeatureMap map = Unpack(core.cube.fmatrix[p.fmatrix_b ? 1 : 0]);
    const auto repeat = static_cast<uint32_t>(core.cube.l3d_repeat >> 16 & 0xFFu);
    const auto repeat_stride = static_cast<uint32_t>(core.cube.l3d_repeat & 0xFFFFu);
    const bool along_k = (core.cube.l3d_repeat >> 24 & 1u) != 0;
    const bool window = (p.filter_w != 0 || p.filter_w_high) && (p.filter_h != 0 || p.filter_h_high);
    if (map.width == 0 || map.height == 0 || p.channels == 0 || p.k_extension == 0 || p.m_extension == 0 || !window || repeat == 0) {
        return AdmitNothing(core, opcode, site);
    }
    const bool to_b = place == Place::kL0b;
    if (bits < 16 && (to_b || p.transpose)) {
        return BadArgument(core, opcode, site, "elements of eight and four bits go to L0A untransposed; bits of an element", bits);
    }
    const uint8_t* from = OnChipAddress(core, kSpaceL1, src);
    const Windows windows(core, map, p, bits, from);
    const uint32_t lanes = windows.Lanes();
    if (p.k_start % lanes != 0) {
        return BadArgument(core, opcode, site, "kStartPt starts a block of channels", p.k_start);
    }
    // Sizes in fractals: rows of 16 and columns of a block, turned around where the result is transposed.
    const bool turned = to_b || p.transpose;
    const uint32_t rows = CeilDiv(p.m_extension, kSide) * kSide;
    const uint32_t columns = turned ? CeilDiv(p.k_extension, kSide) * kSide : CeilDiv(p.k_extension, lanes) * lanes;
    const uint64_t bytes = uint64_t{rows} * columns * bits / 8;
    uint8_t* to = OnChipAddress(core, to_b ? kSpaceL0b : kSpaceL0a, dst);
    const Range ranges[] = {
        {to_b ? kSpaceL0b : kSpaceL0a, kWrite, to, bytes * repeat, 0},
        {kSpaceL1, kRead, core.cube.l1_3d_size != 0 ? core.l1 : from,
         core.cube.l1_3d_size != 0 ? std::min<uint64_t>(core.cube.l1_3d_size, core.l1_size) : windows.Bytes(), 1}};
    Numbers numbers;
    numbers.aux0 = static_cast<uint32_t>(CeilDiv(static_cast<uint32_t>(bytes), kFractal) * repeat);
    numbers.aux1 = static_cast<uint32_t>(bytes * repeat);
    numbers.aux2 = kFractal;
    numbers.repeat = static_cast<uint16_t>(repeat);
    if (!AdmitRanges(core, opcode, element, site, ranges, 2, numbers)) {
        return;
    }
    const uint32_t column_fractals = columns / (turned ? kSide : lanes);
    for (uint32_t turn = 0; turn < repeat; ++turn, to += bytes) {
        const uint32_t m0 = p.m_start + (along_k ? 0 : turn * repeat_stride * kSide);
        const uint32_t k0 = p.k_start + (along_k ? turn * repeat_stride * lanes : 0);
        for (uint32_t m = 0; m < rows; ++m) {
            for (uint32_t k = 0; k < columns; k += lanes) {
                if (!turned) {
                    const uint64_t fractal = uint64_t{m / kSide} * column_fractals + k / lanes;
                    windows.Block(m0 + m, k0 + k, to + fractal * kFractal + m % kSide * kBlock);
                    continue;
                }
                uint8_t block[kBlock];
                windows.Block(m0 + m, k0 + k, block);
                for (uint32_t lane = 0; lane < lanes; ++lane) {
                    const uint32_t column = k + lane;
                    if (column >= p.k_extension && bits == 32) {
                        break;  // a half of a fractal that is not asked for is left alone
                    }
                    const uint64_t fractal = to_b ? uint64_t{m / lanes} * column_fractals + column / kSide
                                                  : uint64_t{column / kSide} * (rows / lanes) + m / lanes;
                    std::memcpy(to + fractal * kFractal + column % kSide * kBlock + m % lanes * (bits / 8),
                                block + lane * (bits / 8), bits / 8);
                }
            }
        }
    }
}

}  // namespace cube
}  // namespace ascendsim
