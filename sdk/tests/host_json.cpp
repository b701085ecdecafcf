// Values of JSON as host code uses them, and the structures of tuning tools.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "register/tuning_bank_key_registry.h"
#include "register/tuning_tiling_registry.h"
#include "tiling/tiling_api.h"

using nlohmann::json;

namespace {

int g_failures = 0;

void Check(bool right, const char* what)
{
    if (!right) {
        std::printf("wrong: %s\n", what);
        ++g_failures;
    }
}
#define CHECK(condition) Check(condition, #condition)

struct Pair {
    int first;
    std::vector<int> more;
};
void to_json(json& result, const Pair& pair) { result = json{{"first", pair.first}, {"more", pair.more}}; }
void from_json(const json& source, Pair& pair)
{
    source.at("first").get_to(pair.first);
    source.at("more").get_to(pair.more);
}

void Texts()
{
    const json value = json::parse(R"( {"a": 1, "b": [1, -2, 3.5, true, null, "x\u00e9\n\ud83d\ude00"], "c": {"d": {}}, "e": 1e3} )");
    CHECK(value.dump() == "{\"a\":1,\"b\":[1,-2,3.5,true,null,\"x\xc3\xa9\\n\xf0\x9f\x98\x80\"],\"c\":{\"d\":{}},\"e\":1e+03}");
    CHECK(json::parse(value.dump(2)) == value);
    CHECK(json({{"a", 1}, {"b", {1, 2}}}).dump(1) == "{\n \"a\": 1,\n \"b\": [\n  1,\n  2\n ]\n}");
    CHECK(json(UINT64_MAX).dump() == "18446744073709551615" && json(0.1).dump() == "0.1" && json(2.0).dump() == "2.0");
    for (const char* wrong : {"", "{", "[1,]", "\"a", "nul", "{\"a\" 1}", "1 2", "+1", "-", "1.", "[\"\\q\"]"}) {
        bool refused = false;
        try {
            json::parse(wrong);
        } catch (const json::parse_error& error) {
            refused = error.byte <= std::string(wrong).size() + 1;
        }
        Check(refused && !json::accept(wrong) && json::parse(wrong, nullptr, false).is_discarded(), wrong);
    }
}

void Values()
{
    json value;
    value["x"]["y"] = 3;
    value["text"] = "abc";
    value["list"].push_back(1);
    value["pair"] = Pair{3, {1, 2}};
    CHECK(value["pair"].get<Pair>().more[1] == 2 && value["x"]["y"] == 3.0 && value.size() == 4);
    CHECK(value.find("nothing") == value.end() && *value.find("list") == json::array({1}) && value.contains("x"));
    CHECK(value.value("text", "z") == "abc" && value.value("none", 7) == 7);
    std::string names;
    for (auto it = value.begin(); it != value.end(); ++it) {
        names += it.key();
    }
    CHECK(names == "listpairtextx");
    const std::vector<int64_t> numbers = json::parse("[1, 2, 3]");
    std::array<uint8_t, 3> three{};
    json(numbers).get_to(three);
    CHECK(three[2] == 3);
    int refused = 0;
    try {
        value.at("nothing");
    } catch (const json::out_of_range&) {
        ++refused;
    }
    try {
        value["text"].get<int>();
    } catch (const json::exception& error) {
        refused += error.id == 302 ? 1 : 0;
    }
    CHECK(refused == 2);
}

}  // namespace

namespace tuningtiling {

#pragma pack(push, 1)
struct SampleKey {
    char kind;
    int64_t rows;
    float scale;
};
#pragma pack(pop)
DECLARE_STRUCT_RELATE_WITH_OP_V2(Sample, SampleKey, kind, rows, scale)

BEGIN_TUNING_TILING_DEF(SampleTiling)
TUNING_TILING_DATA_FIELD_DEF(uint32_t, tiles);
TUNING_TILING_DATA_FIELD_DEF(std::vector<int32_t>, steps);
END_TUNING_TILING_DEF
DECLARE_SCHEMA(SampleTiling, FIELD(SampleTiling, tiles), FIELD(SampleTiling, steps))
REGISTER_TUNING_TILING_CLASS(Sample, SampleTiling)

}  // namespace tuningtiling

int main()
{
    Texts();
    Values();
    tuningtiling::SampleKey key{7, -5, 0.5f};
    json text = key;
    CHECK(text.dump() == R"({"kind":7,"rows":-5,"scale":0.5})" && text.get<tuningtiling::SampleKey>().rows == -5);
    auto tiling = tuningtiling::TuningTilingClassFactory::CreateTilingDataInstance("Sample");
    CHECK(tiling != nullptr && tuningtiling::TuningTilingClassFactory::CreateTilingDataInstance("Other") == nullptr);
    if (tiling != nullptr) {
        tiling->FromJson(json::parse(R"({"tiles": 4, "steps": [1, 2], "more": 3})"));
        json back;
        tiling->ToJson(back);
        CHECK(back.dump() == R"({"steps":[1,2],"tiles":4})" && tiling->GetItemInfo().size() == 2);
        CHECK(RuntimeKb::QueryBank(&key, sizeof(key), "Sample", "Ascend910B", 1, tiling) != 0);
    }
    CHECK(AscendC::BLOCK_CUBE == 16);
    return g_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
