class TorchFunctionMode:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
