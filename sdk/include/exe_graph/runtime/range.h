// A lower and an upper bound that belong to somebody else.
#ifndef ASCEND_SDK_EXE_GRAPH_RANGE_H
#define ASCEND_SDK_EXE_GRAPH_RANGE_H

namespace gert {
template <typename T>
class Range {
public:
    Range() = default;
    Range(T* min, T* max) : min_(min), max_(max) {}
    explicit Range(T* both) : min_(both), max_(both) {}
    void SetMin(T* min)
    {
        min_ = min;
    }
    void SetMax(T* max)
    {
        max_ = max;
    }
    const T* GetMin() const
    {
        return min_;
    }
    const T* GetMax() const
    {
        return max_;
    }
    T* GetMin()
    {
        return min_;
    }
    T* GetMax()
    {
        return max_;
    }

private:
    T* min_ = nullptr;
    T* max_ = nullptr;
};
} // namespace gert

#endif
