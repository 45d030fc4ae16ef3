package genieacs

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Parameter is a value that a device is to take. Its value may be a secret, so it shows its name only.
type Parameter struct {
	Name  string
	Value any    // string, bool, int, int64 or float64
	Type  string // "" or one of xsd:string, boolean, int, unsignedInt, long, unsignedLong, dateTime, base64, hexBinary
}

// LogValue shows the name only.
func (p Parameter) LogValue() slog.Value { return slog.StringValue(p.Name) }

// String shows the name only.
func (p Parameter) String() string { return p.Name }

// GoString hides the value from %#v, too.
func (p Parameter) GoString() string { return p.Name }

// Format hides the value from every verb, and from prints of structures that hold parameters.
func (p Parameter) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(p.Name)) }

// MarshalJSON fails, so that no body or log can contain a value by accident.
func (p Parameter) MarshalJSON() ([]byte, error) {
	return nil, errors.New("parameters of devices are not written as JSON")
}

// pathForm matches whole paths of parameters and objects without a dot at their end.
var pathForm = regexp.MustCompile(`^(Device|InternetGatewayDevice|VirtualParameters)(\.[A-Za-z0-9_-]+)+$`)

// maxPath bounds a path, in bytes: TR-069 allows 256.
const maxPath = 256

// checkPath refuses what is no whole path.
func checkPath(path string) error {
	if len(path) > maxPath || !pathForm.MatchString(path) {
		return unfit("%q is no path of a parameter", clean(path))
	}
	return nil
}

// maxSet bounds a text that is sent to a device, in bytes.
const maxSet = 64 << 10

// check refuses a parameter that the server, or the device's XML, cannot carry. Errors name it and hide its value.
func (p Parameter) check() error {
	if err := checkPath(p.Name); err != nil {
		return err
	}
	var text string
	switch v := p.Value.(type) {
	case string:
		text = v
		if !carries(v) {
			return unfit("value of %s has characters that XML does not have, or is too long", p.Name)
		}
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return unfit("value of %s is no number", p.Name)
		}
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return unfit("value of %s is neither a text, a number nor a truth value", p.Name)
	}
	if !fits(p.Type, text) {
		return unfit("value of %s is none of type %s", p.Name, clean(p.Type))
	}
	return nil
}

// carries reports whether XML can carry a text.
func carries(text string) bool {
	if len(text) > maxSet || !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0xFFFE || r == 0xFFFF
	})
}

// The forms of texts by type.
var (
	base64Form = regexp.MustCompile(`^[A-Za-z0-9+/\s]*={0,2}\s*$`)
	hexForm    = regexp.MustCompile(`^([0-9A-Fa-f]{2})*$`)
)

// fits reports whether a text is a value of a type. Source: docs/facts/genieacs.md#values.
func fits(kind, text string) bool {
	var err error
	switch kind {
	case "", "xsd:string":
	case "xsd:boolean":
		_, err = strconv.ParseBool(text)
	case "xsd:int":
		_, err = strconv.ParseInt(text, 10, 32)
	case "xsd:long":
		_, err = strconv.ParseInt(text, 10, 64)
	case "xsd:unsignedInt":
		_, err = strconv.ParseUint(text, 10, 32)
	case "xsd:unsignedLong":
		_, err = strconv.ParseUint(text, 10, 64)
	case "xsd:dateTime":
		_, err = time.Parse(time.RFC3339Nano, text)
	case "xsd:base64":
		return base64Form.MatchString(text)
	case "xsd:hexBinary":
		return hexForm.MatchString(text)
	default:
		return false
	}
	return err == nil
}

// wire is a parameter on the wire: a list of name, value and type.
func (p Parameter) wire() (json.RawMessage, error) {
	list := []any{p.Name, p.Value}
	if p.Type != "" {
		list = append(list, p.Type)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, unfit("value of %s cannot be written", p.Name)
	}
	return text, nil
}
