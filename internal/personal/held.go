package personal

import (
	"reflect"
	"slices"
)

// HeldBy reports whether values of a type can hold personal text, at any depth. A field of an interface type counts as
// personal, because it can hold any value.
func HeldBy(t reflect.Type) bool { return heldBy(t, nil) }

// heldBy does the work of HeldBy. seen are the types on the way down: a type that is in it is not searched again.
func heldBy(t reflect.Type, seen []reflect.Type) bool {
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(slices.Clip(seen), t)
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[Text]() {
			return true
		}
		for i := range t.NumField() {
			if heldBy(t.Field(i).Type, seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return heldBy(t.Elem(), seen)
	case reflect.Map:
		return heldBy(t.Key(), seen) || heldBy(t.Elem(), seen)
	case reflect.Interface:
		return true
	}
	return false
}
