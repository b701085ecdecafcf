// Would register ScaleAdd with TensorFlow's parser.
#include "graph/types.h"

extern "C" int StandinTfPlugin()
{
    return static_cast<int>(ge::DT_FLOAT16);
}
