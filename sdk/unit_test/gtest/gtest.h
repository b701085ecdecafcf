// The part of a test framework that operators' kernel tests are written in: enough for their programs to be built and
// run where no such framework is installed, and results in a form that the tool reads (report.h).
#ifndef ASCEND_SDK_UNIT_TEST_GTEST_H
#define ASCEND_SDK_UNIT_TEST_GTEST_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "report.h"

namespace testing {

/// Text that a test streams behind an assertion.
class Message {
public:
    template <typename T>
    Message& operator<<(const T& value)
    {
        stream_ << value;
        return *this;
    }
    Message& operator<<(std::ostream& (*manipulator)(std::ostream&))
    {
        stream_ << manipulator;
        return *this;
    }
    std::string Text() const { return stream_.str(); }

private:
    std::ostringstream stream_;
};

/// Base of all fixtures.
class Test {
public:
    virtual ~Test() = default;
    static void SetUpTestCase() {}
    static void TearDownTestCase() {}
    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}
    static bool HasFailure() { return ascend_unit::CurrentFailed(); }
    static bool HasFatalFailure() { return ascend_unit::CurrentFailed(); }
    virtual void TestBody() = 0;
    void RunBody()
    {
        SetUp();
        if (!ascend_unit::CurrentStopped()) {
            TestBody();
        }
        TearDown();
    }

protected:
    virtual void SetUp() {}
    virtual void TearDown() {}
};

template <typename T>
class WithParamInterface {
public:
    using ParamType = T;
    virtual ~WithParamInterface() = default;
    static const ParamType& GetParam() { return *Slot(); }
    static const ParamType*& Slot()
    {
        static const ParamType* slot = nullptr;
        return slot;
    }
};

template <typename T>
class TestWithParam : public Test, public WithParamInterface<T> {};

class Environment {
public:
    virtual ~Environment() = default;
    virtual void SetUp() {}
    virtual void TearDown() {}
};

inline Environment* AddGlobalTestEnvironment(Environment* environment) { return environment; }
inline void InitGoogleTest(int*, char**) {}
inline void InitGoogleTest() {}

template <typename T>
struct TestParamInfo {
    T param;
    size_t index;
};

struct PrintToStringParamName {
    template <typename T>
    std::string operator()(const TestParamInfo<T>& info) const
    {
        return std::to_string(info.index);
    }
};

namespace internal {

template <typename T, typename = void>
struct IsPrintable : std::false_type {};
template <typename T>
struct IsPrintable<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>
    : std::true_type {};

template <typename T>
std::string Print(const T& value)
{
    if constexpr (std::is_same_v<T, std::nullptr_t>) {
        return "nullptr";
    } else if constexpr (std::is_enum_v<T> || (std::is_integral_v<T> && sizeof(T) == 1)) {
        return std::to_string(static_cast<long long>(value));
    } else if constexpr (IsPrintable<T>::value) {
        std::ostringstream stream;
        stream << std::boolalpha << value;
        return stream.str();
    } else {
        return "(a value of " + std::to_string(sizeof(T)) + " bytes)";
    }
}

/// Ends an assertion that failed: collects the streamed text, then notes the failure.
struct Failure {
    const char* file;
    int line;
    std::string what;
    bool fatal;
    void operator=(const Message& message) const
    {
        ascend_unit::NoteFailure(file, line, what, message.Text(), fatal);
    }
};

struct Outcome {
    bool good;
    std::string what;
    explicit operator bool() const { return good; }
};

template <typename Relation, typename Left, typename Right>
Outcome Compare(Relation relation, const char* sign, const char* left_text, const char* right_text, const Left& left,
                const Right& right)
{
    ascend_unit::NoteCheck();
    if (relation(left, right)) {
        return {true, {}};
    }
    return {false, std::string("expected ") + left_text + " " + sign + " " + right_text + ", but they are " +
                       Print(left) + " and " + Print(right)};
}

inline Outcome IsTrue(bool value, bool wanted, const char* text)
{
    ascend_unit::NoteCheck();
    return value == wanted ? Outcome{true, {}}
                           : Outcome{false, std::string(text) + " is " + (wanted ? "false" : "true")};
}

inline Outcome IsNear(const char* left_text, const char* right_text, double left, double right, double bound)
{
    ascend_unit::NoteCheck();
    if (std::fabs(left - right) <= bound || left == right) {
        return {true, {}};
    }
    return {false, std::string(left_text) + " and " + right_text + " are " + Print(left) + " and " + Print(right) +
                       ", further apart than " + Print(bound)};
}

template <typename Float>
Outcome IsAlmost(const char* left_text, const char* right_text, Float left, Float right)
{
    // Four units in the last place, as such assertions are understood.
    const Float larger = std::fmax(std::fabs(left), std::fabs(right));
    const Float bound = larger * std::numeric_limits<Float>::epsilon() * 4;
    return IsNear(left_text, right_text, left, right, bound);
}

inline Outcome IsSameText(const char* left, const char* right, bool wanted)
{
    ascend_unit::NoteCheck();
    const bool same = left == right || (left != nullptr && right != nullptr && std::strcmp(left, right) == 0);
    return same == wanted ? Outcome{true, {}}
                          : Outcome{false, std::string("texts \"") + (left != nullptr ? left : "") + "\" and \"" +
                                               (right != nullptr ? right : "") + "\""};
}

/// Values that INSTANTIATE_TEST_SUITE_P takes.
template <typename... Types>
struct ValueList {
    std::tuple<Types...> values;
    template <typename T>
    std::vector<T> As() const
    {
        return std::apply([](const auto&... each) { return std::vector<T>{static_cast<T>(each)...}; }, values);
    }
};

template <typename Container>
struct ValueRange {
    Container values;
    template <typename T>
    std::vector<T> As() const
    {
        return std::vector<T>(values.begin(), values.end());
    }
};

template <typename... Lists>
struct Product {
    std::tuple<Lists...> lists;
    template <typename T>
    std::vector<T> As() const
    {
        std::vector<T> all;
        Collect<T, 0>(all, T{});
        return all;
    }

private:
    template <typename T, size_t Index>
    void Collect(std::vector<T>& all, T begun) const
    {
        if constexpr (Index == sizeof...(Lists)) {
            all.push_back(begun);
        } else {
            using Element = std::tuple_element_t<Index, T>;
            for (const Element& value : std::get<Index>(lists).template As<Element>()) {
                std::get<Index>(begun) = value;
                Collect<T, Index + 1>(all, begun);
            }
        }
    }
};

/// Tests with parameters meet their values when the program starts to list or run them: either may be declared first.
template <typename Fixture>
struct ParameterSuite {
    using Param = typename Fixture::ParamType;
    struct Body {
        std::string name;
        std::function<void()> run;
    };
    struct Instance {
        std::string prefix;
        std::vector<Param> params;
    };
    std::vector<Body> bodies;
    std::vector<Instance> instances;

    static ParameterSuite& The(const char* name)
    {
        static ParameterSuite* const suite = [name] {
            auto* const made = new ParameterSuite();
            const std::string suite_name = name;
            ascend_unit::AddSource([made, suite_name] { made->Register(suite_name); });
            return made;
        }();
        return *suite;
    }

private:
    void Register(const std::string& suite_name)
    {
        for (const Instance& instance : instances) {
            for (const Body& body : bodies) {
                for (size_t index = 0; index < instance.params.size(); ++index) {
                    const Param* const param = &instance.params[index];
                    ascend_unit::AddTest(
                        instance.prefix + "/" + suite_name + "." + body.name + "/" + std::to_string(index),
                        [param, run = body.run] {
                            Fixture::Slot() = param;
                            run();
                        });
                }
            }
        }
    }
};

template <typename Fixture>
struct AddBody {
    AddBody(const char* suite, const char* name, std::function<void()> run)
    {
        ParameterSuite<Fixture>::The(suite).bodies.push_back({name, std::move(run)});
    }
};

template <typename Fixture>
struct AddInstance {
    template <typename Source, typename... Naming>
    AddInstance(const char* suite, const char* prefix, const Source& source, const Naming&...)
    {
        ParameterSuite<Fixture>::The(suite).instances.push_back(
            {prefix, source.template As<typename Fixture::ParamType>()});
    }
};

}  // namespace internal

template <typename... Types>
internal::ValueList<std::decay_t<Types>...> Values(Types&&... values)
{
    return {std::tuple<std::decay_t<Types>...>(std::forward<Types>(values)...)};
}
template <typename Container>
internal::ValueRange<Container> ValuesIn(const Container& values)
{
    return {values};
}
template <typename T, size_t Count>
internal::ValueRange<std::vector<T>> ValuesIn(const T (&values)[Count])
{
    return {std::vector<T>(values, values + Count)};
}
inline internal::ValueList<bool, bool> Bool() { return {std::make_tuple(false, true)}; }
template <typename... Lists>
internal::Product<Lists...> Combine(const Lists&... lists)
{
    return {std::tuple<Lists...>(lists...)};
}

}  // namespace testing

#define ASCEND_UNIT_CLASS(suite, name) suite##_##name##_Test

// The derived class reaches what a fixture declares protected.
#define ASCEND_UNIT_BODY(suite, name, base)                            \
    class ASCEND_UNIT_CLASS(suite, name) : public base {               \
    public:                                                            \
        void TestBody() override;                                      \
        static void RunAlone()                                         \
        {                                                              \
            SetUpTestCase();                                           \
            SetUpTestSuite();                                          \
            {                                                          \
                ASCEND_UNIT_CLASS(suite, name) test;                   \
                test.RunBody();                                        \
            }                                                          \
            TearDownTestSuite();                                       \
            TearDownTestCase();                                        \
        }                                                              \
    };

#define ASCEND_UNIT_TEST(suite, name, base)                                                               \
    ASCEND_UNIT_BODY(suite, name, base)                                                                   \
    static const bool suite##_##name##_added =                                                            \
        ::ascend_unit::AddTest(#suite "." #name, &ASCEND_UNIT_CLASS(suite, name)::RunAlone);              \
    void ASCEND_UNIT_CLASS(suite, name)::TestBody()

#define TEST(suite, name) ASCEND_UNIT_TEST(suite, name, ::testing::Test)
#define TEST_F(fixture, name) ASCEND_UNIT_TEST(fixture, name, fixture)
#define TEST_P(fixture, name)                                                                            \
    ASCEND_UNIT_BODY(fixture, name, fixture)                                                             \
    static const ::testing::internal::AddBody<fixture> fixture##_##name##_added(                         \
        #fixture, #name, &ASCEND_UNIT_CLASS(fixture, name)::RunAlone);                                   \
    void ASCEND_UNIT_CLASS(fixture, name)::TestBody()
#define INSTANTIATE_TEST_SUITE_P(prefix, fixture, ...) \
    static const ::testing::internal::AddInstance<fixture> prefix##_##fixture##_instance(#fixture, #prefix, __VA_ARGS__)
#define INSTANTIATE_TEST_CASE_P(prefix, fixture, ...) INSTANTIATE_TEST_SUITE_P(prefix, fixture, __VA_ARGS__)

#define ASCEND_UNIT_EXPECT(...)                                                             \
    if (const ::testing::internal::Outcome ascend_unit_outcome = (__VA_ARGS__)) {           \
    } else                                                                                  \
        ::testing::internal::Failure{__FILE__, __LINE__, ascend_unit_outcome.what, false} = ::testing::Message()
#define ASCEND_UNIT_ASSERT(...)                                                             \
    if (const ::testing::internal::Outcome ascend_unit_outcome = (__VA_ARGS__)) {           \
    } else                                                                                  \
        return ::testing::internal::Failure{__FILE__, __LINE__, ascend_unit_outcome.what, true} = ::testing::Message()
#define ASCEND_UNIT_RELATION(sign, left, right)                                                            \
    ::testing::internal::Compare([](const auto& a, const auto& b) { return a sign b; }, #sign, #left, #right, left, right)

#define EXPECT_EQ(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(==, left, right))
#define EXPECT_NE(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(!=, left, right))
#define EXPECT_LT(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(<, left, right))
#define EXPECT_LE(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(<=, left, right))
#define EXPECT_GT(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(>, left, right))
#define EXPECT_GE(left, right) ASCEND_UNIT_EXPECT(ASCEND_UNIT_RELATION(>=, left, right))
#define EXPECT_TRUE(value) ASCEND_UNIT_EXPECT(::testing::internal::IsTrue(static_cast<bool>(value), true, #value))
#define EXPECT_FALSE(value) ASCEND_UNIT_EXPECT(::testing::internal::IsTrue(static_cast<bool>(value), false, #value))
#define EXPECT_NEAR(left, right, bound) ASCEND_UNIT_EXPECT(::testing::internal::IsNear(#left, #right, left, right, bound))
#define EXPECT_FLOAT_EQ(left, right) ASCEND_UNIT_EXPECT(::testing::internal::IsAlmost<float>(#left, #right, left, right))
#define EXPECT_DOUBLE_EQ(left, right) ASCEND_UNIT_EXPECT(::testing::internal::IsAlmost<double>(#left, #right, left, right))
#define EXPECT_STREQ(left, right) ASCEND_UNIT_EXPECT(::testing::internal::IsSameText(left, right, true))
#define EXPECT_STRNE(left, right) ASCEND_UNIT_EXPECT(::testing::internal::IsSameText(left, right, false))

#define ASSERT_EQ(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(==, left, right))
#define ASSERT_NE(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(!=, left, right))
#define ASSERT_LT(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(<, left, right))
#define ASSERT_LE(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(<=, left, right))
#define ASSERT_GT(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(>, left, right))
#define ASSERT_GE(left, right) ASCEND_UNIT_ASSERT(ASCEND_UNIT_RELATION(>=, left, right))
#define ASSERT_TRUE(value) ASCEND_UNIT_ASSERT(::testing::internal::IsTrue(static_cast<bool>(value), true, #value))
#define ASSERT_FALSE(value) ASCEND_UNIT_ASSERT(::testing::internal::IsTrue(static_cast<bool>(value), false, #value))
#define ASSERT_NEAR(left, right, bound) ASCEND_UNIT_ASSERT(::testing::internal::IsNear(#left, #right, left, right, bound))
#define ASSERT_FLOAT_EQ(left, right) ASCEND_UNIT_ASSERT(::testing::internal::IsAlmost<float>(#left, #right, left, right))
#define ASSERT_STREQ(left, right) ASCEND_UNIT_ASSERT(::testing::internal::IsSameText(left, right, true))

#define ADD_FAILURE() ::testing::internal::Failure{__FILE__, __LINE__, "failure", false} = ::testing::Message()
#define FAIL() return ::testing::internal::Failure{__FILE__, __LINE__, "failure", true} = ::testing::Message()
#define SUCCEED() static_cast<void>(0)
#define GTEST_SKIP() return ::ascend_unit::SkipAt{__FILE__, __LINE__} = ::testing::Message()

namespace ascend_unit {
struct SkipAt {
    const char* file;
    int line;
    void operator=(const ::testing::Message& message) const { NoteSkip(message.Text()); }
};
}  // namespace ascend_unit

#endif
