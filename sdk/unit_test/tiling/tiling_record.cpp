// Calls tiling functions and writes down what went in and what came out: one JSON object a line, appended to the file
// that ASCEND_TILING_EXAMPLES names.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/utils/type_utils.h"
#include "tiling_faker.h"

namespace ascend_unit {
namespace {
Expectation& Next()
{
    static Expectation next;
    return next;
}

// Names of data types in manifests; others keep their own.
std::string TypeName(ge::DataType type)
{
    static const std::pair<ge::DataType, const char*> kNames[] = {
        {ge::DT_FLOAT16, "float16"}, {ge::DT_FLOAT, "float32"},   {ge::DT_BF16, "bfloat16"}, {ge::DT_INT8, "int8"},
        {ge::DT_UINT8, "uint8"},     {ge::DT_INT16, "int16"},     {ge::DT_UINT16, "uint16"}, {ge::DT_INT32, "int32"},
        {ge::DT_UINT32, "uint32"},   {ge::DT_INT64, "int64"},     {ge::DT_UINT64, "uint64"}, {ge::DT_BOOL, "bool"},
        {ge::DT_DOUBLE, "float64"},  {ge::DT_COMPLEX64, "complex64"},
    };
    for (const auto& row : kNames) {
        if (row.first == type) {
            return row.second;
        }
    }
    return ge::TypeUtils::DataTypeToSerialString(type);
}

std::string Quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char each : text) {
        const unsigned char byte = static_cast<unsigned char>(each);
        if (each == '"' || each == '\\') {
            out += '\\';
            out += each;
        } else if (byte < 0x20 || byte >= 0x7F) {
            char code[8];
            (void)std::snprintf(code, sizeof(code), "\\u%04x", byte);
            out += code;
        } else {
            out += each;
        }
    }
    return out + "\"";
}

std::string Hex(const void* bytes, size_t size)
{
    static const char kDigits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < size; ++i) {
        const uint8_t byte = static_cast<const uint8_t*>(bytes)[i];
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

template <typename List, typename Text>
std::string Array(const List& values, const Text& text)
{
    std::string out = "[";
    bool first = true;
    for (const auto& value : values) {
        out += (first ? "" : ",") + text(value);
        first = false;
    }
    return out + "]";
}
const auto kNumber = [](const auto& value) { return std::to_string(value); };

std::string Dims(const gert::Shape& shape)
{
    std::vector<int64_t> dims;
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        dims.push_back(shape.GetDim(i));
    }
    return Array(dims, kNumber);
}

std::string TensorText(const gert::Tensor& tensor)
{
    std::string text = "{\"dtype\":" + Quoted(TypeName(tensor.GetDataType())) +
                       ",\"format\":" + Quoted(ge::TypeUtils::FormatToSerialString(tensor.GetStorageFormat())) +
                       ",\"shape\":" + Dims(tensor.GetOriginShape()) +
                       ",\"storage_shape\":" + Dims(tensor.GetStorageShape());
    const int64_t bytes = ge::GetSizeInBytes(tensor.GetShapeSize(), tensor.GetDataType());
    constexpr int64_t kMostBytes = 1 << 16;
    if (tensor.GetAddr() != nullptr && bytes >= 0 && bytes <= kMostBytes) {
        text += ",\"const_hex\":\"" + Hex(tensor.GetAddr(), static_cast<size_t>(bytes)) + "\"";
    }
    return text + "}";
}

std::string Joined(const std::string& array)
{
    return array.substr(1, array.size() - 2);
}

std::string RealText(double value)
{
    char text[64];
    (void)std::snprintf(text, sizeof(text), "%.9g", value);
    return text;
}

std::string AttributeText(const std::pair<std::string, AnyValue>& attribute)
{
    const AnyValue& value = attribute.second;
    std::string kind = "int";
    std::string text = std::to_string(value.number_);
    switch (value.type_) {
        case AnyValue::VT_BOOL:
            kind = "bool";
            text = value.number_ != 0 ? "true" : "false";
            break;
        case AnyValue::VT_FLOAT:
            kind = "float";
            text = RealText(value.real_);
            break;
        case AnyValue::VT_STRING:
            kind = "string";
            text = value.text_;
            break;
        case AnyValue::VT_LIST_BOOL:
        case AnyValue::VT_LIST_INT:
            kind = value.type_ == AnyValue::VT_LIST_BOOL ? "list_bool" : "list_int";
            text = Joined(Array(value.numbers_, kNumber));
            break;
        case AnyValue::VT_LIST_FLOAT:
            kind = "list_float";
            text = Joined(Array(value.reals_, [](float number) { return RealText(static_cast<double>(number)); }));
            break;
        case AnyValue::VT_LIST_LIST_INT:
            kind = "list_list_int";
            text = Array(value.lists_, [](const auto& list) { return Array(list, kNumber); });
            break;
        default:
            break;
    }
    return "{\"name\":" + Quoted(attribute.first) + ",\"kind\":\"" + kind + "\",\"value\":" + Quoted(text) + "}";
}

std::string PlatformText(fe::PlatFormInfos* platform)
{
    std::string text = "{";
    if (platform != nullptr) {
        text += "\"cores\":" + std::to_string(platform->GetNumbers().cores_aiv) +
                ",\"ub_bytes\":" + std::to_string(platform->GetNumbers().ub_bytes);
        std::string value;
        if (platform->GetPlatformRes("version", "Short_SoC_version", value)) {
            text += ",\"soc\":" + Quoted(value);
        }
        if (platform->GetPlatformRes("version", "NpuArch", value) && std::strtoul(value.c_str(), nullptr, 10) > 0) {
            text += ",\"architecture\":" + value;
        }
    }
    return text + "}";
}

std::string ExpectedText(const Expectation& expected)
{
    if (!expected.known) {
        return "{}";
    }
    std::string text = std::string("{\"success\":") + (expected.success ? "true" : "false");
    if (expected.has_key) {
        text += ",\"tiling_key\":" + std::to_string(expected.key);
    }
    if (expected.has_data) {
        text += ",\"tiling_data\":" + Quoted(expected.data);
    }
    if (expected.has_workspaces) {
        text += ",\"workspaces\":" + Array(expected.workspaces, kNumber);
    }
    return text + "}";
}

// Written before the call with no outcome, as the call may end the process, and again after it.
void Write(const Node& node, const Expectation& expected, const gert::TilingContext* decided, bool success)
{
    const char* const path = std::getenv("ASCEND_TILING_EXAMPLES");
    if (path == nullptr) {
        return;
    }
    std::ostringstream line;
    line << "{\"operator\":" << Quoted(node.type) << ",\"inputs\":" << Array(node.inputs, TensorText)
         << ",\"input_instances\":" << Array(node.input_instances, kNumber)
         << ",\"outputs\":" << Array(node.outputs, TensorText)
         << ",\"output_instances\":" << Array(node.output_instances, kNumber)
         << ",\"attributes\":" << Array(node.attributes, AttributeText)
         << ",\"platform\":" << PlatformText(node.platform) << ",\"expected\":" << ExpectedText(expected);
    if (decided != nullptr) {
        const auto& decision = decided->GetDecision();
        line << ",\"outcome\":{\"success\":" << (success ? "true" : "false")
             << ",\"tiling_key\":" << decision.tiling_key << ",\"block_dim\":" << decision.block_dim
             << ",\"workspaces\":" << Array(decision.workspace_bytes, kNumber) << ",\"tiling_hex\":\""
             << (node.tiling_data == nullptr ? "" : Hex(node.tiling_data->GetData(), node.tiling_data->GetDataSize()))
             << "\"}";
    }
    line << "}\n";
    std::ofstream(path, std::ios::app) << line.str();
}
} // namespace

void Expect(const Expectation& expectation)
{
    Next() = expectation;
}

// A parse function for another chip may be missing here: the chip is recorded before it is called.
void RecordChip(fe::PlatFormInfos* platform)
{
    std::string chip;
    const bool known = platform != nullptr && platform->GetPlatformRes("version", "Short_SoC_version", chip);
    if (known && !chip.empty() && chip != "Ascend910B" && chip != "Ascend910_93") {
        Node node;
        node.platform = platform;
        Write(node, Expectation(), nullptr, false);
    }
}

// Tiling classes leave members unset and copy them out: on a stack that nothing has used yet, they read as zero.
__attribute__((noinline)) static void ClearStack()
{
    constexpr size_t kDeepest = 256 * 1024;
    volatile char below[kDeepest];
    for (size_t i = 0; i < kDeepest; ++i) {
        below[i] = 0;
    }
    (void)below[0];
}

ge::graphStatus TilingFunction::operator()(gert::TilingContext* context) const
{
    Node* const node = Node::Of(context);
    const Expectation expected = Next();
    Next() = Expectation();
    if (node == nullptr) {
        return function_(context);
    }
    Write(*node, expected, nullptr, false);
    ClearStack();
    const ge::graphStatus status = function_(context);
    Write(*node, expected, context, status == ge::GRAPH_SUCCESS);
    // Tests read workspace sizes where they asked for them to be put.
    if (node->workspace != nullptr) {
        const auto& sizes = context->GetDecision().workspace_bytes;
        if (node->workspace->SetSize(sizes.size()) == ge::GRAPH_SUCCESS && !sizes.empty()) {
            std::memcpy(node->workspace->MutableData(), sizes.data(), sizes.size() * sizeof(size_t));
        }
    }
    return status;
}
} // namespace ascend_unit

namespace {
// The text behind "key": in a JSON object, quotes removed; empty when there is no such key.
std::string JsonValue(const std::string& json, const std::string& key)
{
    const size_t at = json.find("\"" + key + "\"");
    if (at == std::string::npos) {
        return "";
    }
    size_t from = json.find(':', at);
    if (from == std::string::npos) {
        return "";
    }
    from = json.find_first_not_of(" \t\r\n", from + 1);
    if (from == std::string::npos) {
        return "";
    }
    if (json[from] == '"') {
        return json.substr(from + 1, json.find('"', from + 1) - from - 1);
    }
    return json.substr(from, json.find_first_of(",} \t\r\n", from) - from);
}

using Section = std::map<std::string, std::string>;

void Take(const std::string& json, const char* key, const char* name, Section& section)
{
    const std::string value = JsonValue(json, key);
    if (!value.empty()) {
        section[name] = value;
    }
}
} // namespace

void GetPlatFormInfos(const char* text, Section& soc, Section& core, Section& intrinsics)
{
    const std::string json = text == nullptr ? "" : text;
    soc["core_type_list"] = "AICore";
    Take(json, "CORE_NUM", "ai_core_cnt", soc);
    Take(json, "L2_SIZE", "l2_size", soc);
    for (const char* const key : {"cube_core_cnt", "vector_core_cnt", "core_type_list"}) {
        Take(json, key, key, soc);
    }
    core["cube_freq"] = "cube_freq";
    Take(json, "UB_SIZE", "ub_size", core);
    Take(json, "L0A_SIZE", "l0_a_size", core);
    Take(json, "L0B_SIZE", "l0_b_size", core);
    Take(json, "L0C_SIZE", "l0_c_size", core);
    Take(json, "L1_SIZE", "l1_size", core);
    Take(json, "BT_SIZE", "bt_size", core);
    Take(json, "load3d_constraints", "load3d_constraints", core);
    for (const char* const key :
         {"Intrinsic_data_move_l12ub", "Intrinsic_data_move_l0c2ub", "Intrinsic_fix_pipe_l0c2out",
          "Intrinsic_data_move_out2l1_nd2nz", "Intrinsic_matmul_ub_to_ub", "Intrinsic_conv_ub_to_ub"}) {
        if (JsonValue(json, key) == "true") {
            intrinsics[key] = "float16";
        }
    }
    if (JsonValue(json, "Intrinsic_data_move_l12bt") == "true") {
        intrinsics["Intrinsic_data_move_l12bt"] = "bf16";
    }
}

void GetPlatFormInfos(const char* text, Section& soc, Section& core, Section& intrinsics, Section& version)
{
    GetPlatFormInfos(text, soc, core, intrinsics);
    Take(text == nullptr ? "" : text, "socVersion", "Short_SoC_version", version);
    static const std::pair<const char*, const char*> kArchitectures[] = {
        {"Ascend910_95", "3510"}, {"Ascend950", "3510"}, {"Ascend910_93", "2201"},
        {"Ascend910B", "2201"},   {"Ascend310P", "2002"}, {"Ascend910", "1001"},
    };
    for (const auto& row : kArchitectures) {
        if (version["Short_SoC_version"] == row.first) {
            version["NpuArch"] = row.second;
        }
    }
}
