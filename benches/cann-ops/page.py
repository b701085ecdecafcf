def rendered(records, levels):
    return ""
