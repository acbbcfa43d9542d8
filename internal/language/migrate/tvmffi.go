package migrate

// tvmFFI reads TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function).
func (r *reader) tvmFFI(f *file) {
	for i := 0; i < len(f.tokens); i++ {
		if !f.is(i, "TVM_FFI_DLL_EXPORT_TYPED_FUNC", "(") {
			continue
		}
		end := closing(f.tokens, i+1)
		at, args := i, split(f.tokens[min(i+2, end):end], ",")
		i = end
		if len(args) != 2 || len(args[0]) != 1 {
			r.noteAt(f, at, "not read: an export has a name and a function")
			continue
		}
		r.boundFunction(f, at, args[0][0].text, args[1:])
	}
}
