// Names of data types ("DT_FLOAT16") and formats ("ND") and back.
#ifndef ASCEND_SDK_GRAPH_UTILS_TYPE_UTILS_H
#define ASCEND_SDK_GRAPH_UTILS_TYPE_UTILS_H

#include <string>

#include "graph/ascend_string.h"
#include "graph/types.h"

namespace ge {
class TypeUtils {
public:
    static std::string DataTypeToSerialString(DataType data_type);
    static DataType SerialStringToDataType(const std::string& text);
    static std::string FormatToSerialString(Format format);
    static Format SerialStringToFormat(const std::string& text);
    static Format DataFormatToFormat(const std::string& text);
    static bool GetDataTypeLength(DataType data_type, uint32_t& length);
    static AscendString DataTypeToAscendString(const DataType& data_type);
    static DataType AscendStringToDataType(const AscendString& text);
    static AscendString FormatToAscendString(const Format& format);
    static Format AscendStringToFormat(const AscendString& text);
    static Format DataFormatToFormat(const AscendString& text);
};
} // namespace ge

#endif
