#include "operator_view.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "failure.h"
#include "graph/utils/type_utils.h"
#include "interface.h"
#include "json.h"
#include "register/tilingdata_base.h"

namespace runner {
using ascendsim::host::OpEntry;
using ascendsim::host::Operators;
using AttrKind = ops::OpAttrDef::Kind;

namespace {
void* g_host_library = nullptr;

std::vector<ops::OpParamDef::Spec> Merge(const std::vector<ops::OpParamDef>& base,
                                         const std::vector<ops::OpParamDef>* changes)
{
    std::vector<ops::OpParamDef::Spec> merged;
    for (const ops::OpParamDef& param : base) {
        merged.push_back(param.GetSpec());
    }
    for (size_t i = 0; changes != nullptr && i < changes->size(); ++i) {
        const ops::OpParamDef::Spec& change = (*changes)[i].GetSpec();
        bool found = false;
        for (ops::OpParamDef::Spec& spec : merged) {
            if (spec.name == change.name) {
                spec = change;
                found = true;
            }
        }
        if (!found) {
            merged.push_back(change);
        }
    }
    return merged;
}

const ops::OpParamDef::Spec* FindSpec(const OperatorView& view, const std::string& name)
{
    for (const auto* list : {&view.inputs, &view.outputs}) {
        for (const ops::OpParamDef::Spec& spec : *list) {
            if (spec.name == name) {
                return &spec;
            }
        }
    }
    return nullptr;
}

// A parameter that follows another takes over what it does not say itself.
void ResolveFollow(OperatorView& view)
{
    for (auto* list : {&view.inputs, &view.outputs}) {
        for (ops::OpParamDef::Spec& spec : *list) {
            const ops::OpParamDef::Spec* const leader = spec.follow.empty() ? nullptr : FindSpec(view, spec.follow);
            if (leader == nullptr) {
                continue;
            }
            if (spec.data_types.empty()) {
                spec.data_types = leader->data_types;
                spec.data_types_are_list = leader->data_types_are_list;
            }
            if (spec.formats.empty()) {
                spec.formats = leader->formats;
                spec.formats_are_list = leader->formats_are_list;
            }
        }
    }
}

const char* KindName(ops::Option kind)
{
    switch (kind) {
        case ops::OPTIONAL:
            return "optional";
        case ops::DYNAMIC:
            return "dynamic";
        case ops::REQUIRED:
            return "required";
        default:
            return "ignored";
    }
}

const char* KindName(AttrKind kind)
{
    static const char* const names[] = {"none",      "bool",       "float",    "int",          "string",
                                        "list_bool", "list_float", "list_int", "list_list_int"};
    return names[static_cast<size_t>(kind)];
}

void WriteParams(Json& json, const std::vector<ops::OpParamDef::Spec>& params)
{
    json.BeginArray();
    for (const ops::OpParamDef::Spec& spec : params) {
        json.BeginObject().Key("name").String(spec.name).Key("param").String(KindName(spec.kind));
        json.Key("dtypes").BeginArray();
        for (const ge::DataType type : spec.data_types) {
            json.String(DataTypeName(type));
        }
        json.EndArray().Key("formats").BeginArray();
        for (const ge::Format format : spec.formats) {
            json.String(ge::TypeUtils::FormatToSerialString(format));
        }
        json.EndArray().Key("dtype_list").Bool(spec.data_types_are_list);
        json.Key("value_depend").Bool(spec.value_depend).EndObject();
    }
    json.EndArray();
}

void WriteDefault(Json& json, const ops::OpAttrDef::Spec& spec)
{
    if (!spec.has_default) {
        json.Null();
        return;
    }
    switch (spec.kind) {
        case AttrKind::kBool:
            json.Bool(spec.int_value != 0);
            break;
        case AttrKind::kFloat:
            json.Float(static_cast<double>(spec.float_value));
            break;
        case AttrKind::kInt:
            json.Int(spec.int_value);
            break;
        case AttrKind::kString:
            json.String(spec.string_value);
            break;
        case AttrKind::kListBool:
        case AttrKind::kListInt:
            json.BeginArray();
            for (const int64_t value : spec.int_list) {
                if (spec.kind == AttrKind::kListBool) {
                    json.Bool(value != 0);
                } else {
                    json.Int(value);
                }
            }
            json.EndArray();
            break;
        case AttrKind::kListFloat:
            json.BeginArray();
            for (const float value : spec.float_list) {
                json.Float(static_cast<double>(value));
            }
            json.EndArray();
            break;
        case AttrKind::kListListInt:
            json.BeginArray();
            for (const auto& list : spec.int_list_list) {
                json.BeginArray();
                for (const int64_t value : list) {
                    json.Int(value);
                }
                json.EndArray();
            }
            json.EndArray();
            break;
        default:
            json.Null();
            break;
    }
}

void WriteOperator(Json& json, const OperatorView& view)
{
    json.BeginObject().Key("type").String(view.type).Key("defined").Bool(view.defined).Key("inputs");
    WriteParams(json, view.inputs);
    json.Key("outputs");
    WriteParams(json, view.outputs);
    json.Key("attrs").BeginArray();
    for (const ops::OpAttrDef::Spec& attr : view.attrs) {
        json.BeginObject().Key("name").String(attr.name).Key("type").String(KindName(attr.kind));
        json.Key("required").Bool(attr.required).Key("default");
        WriteDefault(json, attr);
        json.EndObject();
    }
    json.EndArray().Key("interface").BeginArray();
    for (const std::string& line : InterfaceOf(view.type, *view.entry)) {
        json.String(line);
    }
    json.EndArray().Key("has_tiling").Bool(view.entry->tiling != nullptr);
    json.Key("has_infershape").Bool(view.entry->infer_shape != nullptr);
    json.Key("configs").BeginObject();
    if (view.defined) {
        for (const auto& config : view.entry->definition->GetAICore().GetConfigs()) {
            json.Key(config.first).BeginObject();
            for (const auto& setting : config.second.GetSettings()) {
                json.Key(setting.first).String(setting.second);
            }
            json.EndObject();
        }
    }
    json.EndObject().EndObject();
}

void WriteClass(Json& json, const std::string& op, const optiling::TilingDef& definition)
{
    json.BeginObject().Key("op").String(op).Key("class").String(definition.GetTilingClassName());
    json.Key("size").Unsigned(definition.GetDataSize()).Key("fields").BeginArray();
    for (const optiling::TilingField& field : definition.GetFields()) {
        json.BeginObject().Key("name").String(field.name).Key("type").String(field.type);
        json.Key("offset").Unsigned(field.offset).Key("count").Unsigned(field.count);
        json.Key("array").Bool(field.is_array).Key("struct").Bool(field.is_struct).EndObject();
    }
    json.EndArray().EndObject();
}
} // namespace

bool WritesShapes(const OperatorView& view)
{
    const auto writes = [](const ops::OpParamDef::Spec& spec) { return spec.shape_depends_on_compute; };
    return std::any_of(view.outputs.begin(), view.outputs.end(), writes);
}

std::string ComputeUnit(const std::string& soc)
{
    std::string unit;
    for (const char c : soc) {
        unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    for (const char* const known : {"ascend910_93", "ascend910b", "ascend910_95", "ascend950", "ascend310p", "ascend310b"}) {
        const std::string prefix = known;
        if (unit.compare(0, prefix.size(), prefix) == 0) {
            return prefix;
        }
    }
    return unit;
}

OperatorView ViewOperator(const std::string& type, const OpEntry& entry, const std::string& soc)
{
    OperatorView view;
    view.type = type;
    view.entry = &entry;
    view.defined = entry.definition != nullptr;
    if (view.defined) {
        const auto& configs = entry.definition->GetAICore().GetConfigs();
        const auto config = configs.find(ComputeUnit(soc));
        const bool changed = config != configs.end();
        view.inputs = Merge(entry.definition->GetInputs(), changed ? &config->second.GetInputs() : nullptr);
        view.outputs = Merge(entry.definition->GetOutputs(), changed ? &config->second.GetOutputs() : nullptr);
        ResolveFollow(view);
        for (const ops::OpAttrDef& attr : entry.definition->GetAttrs()) {
            view.attrs.push_back(attr.GetSpec());
        }
    }
    for (const ops::OpAttrDef& attr : entry.private_attrs) {
        view.attrs.push_back(attr.GetSpec());
    }
    return view;
}

void LoadHostLibrary(const std::string& path)
{
    SetStage("loading the host library");
    // A path without a slash would be searched for in system directories.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    g_host_library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (g_host_library == nullptr) {
        const char* const reason = ::dlerror();
        throw Failure(kExitBadLibrary, "cannot load host library: " + std::string(reason == nullptr ? path : reason));
    }
}

HostSeal::HostSeal()
{
    ::link_map* map = nullptr;
    if (g_host_library == nullptr || ::dlinfo(g_host_library, RTLD_DI_LINKMAP, &map) != 0) {
        return;
    }
    const auto note = [](::dl_phdr_info* info, size_t, void* raw) {
        auto& [base, segments] = *static_cast<std::pair<ElfW(Addr), std::vector<Segment>*>*>(raw);
        for (int i = 0; info->dlpi_addr == base && i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr)& header = info->dlpi_phdr[i];
            if (header.p_type == PT_LOAD && (header.p_flags & (PF_X | PF_W)) != 0) {
                const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
                const uintptr_t from = (base + header.p_vaddr) / page * page;
                const uintptr_t to = (base + header.p_vaddr + header.p_memsz + page - 1) / page * page;
                const int allowed = ((header.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                                    ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                                    ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
                // Not every linker keeps the headers, which this function reads, apart from code.
                const uintptr_t headers = reinterpret_cast<uintptr_t>(info->dlpi_phdr);
                const int sealed = headers >= from && headers < to ? PROT_READ : PROT_NONE;
                segments->push_back({reinterpret_cast<void*>(from), to - from, allowed, sealed});
            }
        }
        return 0;
    };
    std::pair<ElfW(Addr), std::vector<Segment>*> found{map->l_addr, &segments_};
    ::dl_iterate_phdr(note, &found);
    for (const Segment& segment : segments_) {
        (void)::mprotect(segment.from, segment.bytes, segment.sealed);
    }
}

HostSeal::~HostSeal()
{
    for (const Segment& segment : segments_) {
        (void)::mprotect(segment.from, segment.bytes, segment.allowed);
    }
}

OperatorView SelectOperator(const Job& job)
{
    std::string known;
    for (const auto& entry : Operators()) {
        known += (known.empty() ? "" : ", ") + entry.first;
    }
    if (known.empty()) {
        throw Failure(kExitBadJob, "the host library " + job.host + " registers no operator");
    }
    if (job.op.empty() && Operators().size() != 1) {
        throw Failure(kExitBadJob, "the host library registers several operators (" + known + "); add an 'op' line");
    }
    const std::string type = job.op.empty() ? Operators().begin()->first : job.op;
    const OpEntry* const entry = ascendsim::host::FindOperator(type);
    if (entry == nullptr) {
        throw Failure(kExitBadJob, "the host library does not register operator '" + type + "'; it registers " + known);
    }
    return ViewOperator(type, *entry, job.machine.soc);
}

size_t LargestTilingBytes(const std::string& type)
{
    size_t largest = 0;
    size_t classes = 0;
    for (const auto& entry : optiling::CTilingDataClassFactory::GetInstance().GetEntries()) {
        const bool keyed = entry.op_type.compare(0, type.size() + 1, type + "_") == 0 &&
                           entry.op_type.find_first_not_of("0123456789", type.size() + 1) == std::string::npos;
        if (entry.op_type == type || keyed) {
            largest = std::max<size_t>(largest, entry.constructor()->GetDataSize());
            ++classes;
        }
    }
    return classes > 1 ? largest : 0;
}

std::string DescribeLibrary(const Job& job)
{
    Json json;
    json.BeginObject().Key("ops").BeginArray();
    for (const auto& entry : Operators()) {
        if (job.op.empty() || job.op == entry.first) {
            WriteOperator(json, ViewOperator(entry.first, entry.second, job.machine.soc));
        }
    }
    json.EndArray().Key("tiling_classes").BeginArray();
    // Nested classes come before those that hold them, with an empty operator, once each.
    std::set<std::string> nested;
    for (const auto& entry : optiling::CTilingDataClassFactory::GetInstance().GetEntries()) {
        const auto definition = entry.constructor();
        definition->VisitNested([&](const optiling::TilingDef& part) {
            if (nested.insert(part.GetTilingClassName()).second) {
                WriteClass(json, "", part);
            }
        });
        WriteClass(json, entry.op_type, *definition);
    }
    json.EndArray().EndObject();
    return json.Text();
}
} // namespace runner
