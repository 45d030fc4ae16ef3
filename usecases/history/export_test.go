package historycases

import (
	"reflect"
	"slices"
)

// Suspicious lists the fields below a type whose name could be that of a secret and that can hold text, each with
// whether it is hidden, as "package.Type.Field".
func Suspicious(t reflect.Type) map[string]bool {
	out := map[string]bool{}
	suspects(t, nil, out)
	return out
}

// suspects does the work of Suspicious; seen ends the recursion.
func suspects(t reflect.Type, seen []reflect.Type, out map[string]bool) {
	if slices.Contains(seen, t) || t == textType || secretTypes[t] {
		return
	}
	seen = append(slices.Clip(seen), t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		suspects(t.Elem(), seen, out)
	case reflect.Map:
		suspects(t.Key(), seen, out)
		suspects(t.Elem(), seen, out)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if suspicious.MatchString(f.Name) && holdsText(f.Type) {
				out[t.String()+"."+f.Name] = hidden(t, f) == Secret
			}
			suspects(f.Type, seen, out)
		}
	}
}

// Harmless lists the fields that are shown in spite of their names.
func Harmless() map[string]bool { return harmless }

// Unshown lists the places below a type whose values have no form for people: "" of a kind, or a field that nobody
// outside its package can read.
func Unshown(t reflect.Type) []string { return unshown(t, t.String(), nil) }

// Wordless lists the named unsigned types below a type whose numbers have no words.
func Wordless(t reflect.Type) []string { return wordless(t, nil) }

// wordless does the work of Wordless.
func wordless(t reflect.Type, seen []reflect.Type) (out []string) {
	if slices.Contains(seen, t) {
		return nil
	}
	seen = append(slices.Clip(seen), t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return wordless(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			out = append(out, wordless(t.Field(i).Type, seen)...)
		}
	case reflect.Uint8:
		if words := numbered[t]; t.PkgPath() != "" && (len(words) < 2 || slices.Contains(words[1:], "")) {
			out = append(out, t.String())
		}
	}
	return out
}

// unshown does the work of Unshown.
func unshown(t reflect.Type, path string, seen []reflect.Type) (out []string) {
	if slices.Contains(seen, t) || isLeaf(t) && t.Kind() != reflect.Func && t.Kind() != reflect.Chan {
		return nil
	}
	seen = append(slices.Clip(seen), t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return unshown(t.Elem(), path+"[]", seen)
	case reflect.Map:
		return unshown(t.Elem(), path+"{}", seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				out = append(out, path+"."+f.Name)
				continue
			}
			out = append(out, unshown(f.Type, path+"."+f.Name, seen)...)
		}
		return out
	}
	return []string{path}
}
