package genieacs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// document is a device on the wire: its head, and the tree as it came.
type document map[string]json.RawMessage

// field reads a field of the head; nothing when it is missing or of another form.
func (d document) field(name string, into any) {
	if raw, ok := d[name]; ok {
		_ = json.Unmarshal(raw, into) // of another form: as if it were missing
	}
}

// device takes a document apart. Paths are the parameters that were asked for.
func (d document) device(paths []string) Device {
	out := Device{Values: map[string]Value{}, Root: None}
	d.field("_id", &out.ID)
	var identity struct {
		Manufacturer string `json:"_Manufacturer"`
		OUI          string `json:"_OUI"`
		ProductClass string `json:"_ProductClass"`
		Serial       string `json:"_SerialNumber"`
	}
	d.field("_deviceId", &identity)
	out.OUI, out.ProductClass, out.Serial = identity.OUI, identity.ProductClass, identity.Serial
	out.Manufacturer = clean(identity.Manufacturer)
	d.field("_tags", &out.Tags)
	for name, at := range map[string]*time.Time{
		"_registered": &out.Registered, "_lastInform": &out.LastInform, "_lastBoot": &out.LastBoot,
		"_lastBootstrap": &out.LastBootstrap,
	} {
		d.field(name, at)
		*at = at.UTC()
	}
	if out.ID.check() != nil {
		return Device{}
	}
	trees := map[string]any{}
	for _, root := range []Root{TR181, TR098, "VirtualParameters"} {
		if tree := d.tree(string(root)); tree != nil {
			trees[string(root)] = tree
			if out.Root == None && root != "VirtualParameters" {
				out.Root = root
			}
		}
	}
	for _, p := range paths {
		if v, ok := leaf(trees, p); ok {
			out.Values[p] = v
		}
	}
	return out
}

// tree decodes one of the roots, with numbers as they stand; nil when there is none.
func (d document) tree(root string) map[string]any {
	raw, ok := d[root]
	if !ok {
		return nil
	}
	var out map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return nil
	}
	return out
}

// leaf finds a parameter. A secret's value is dropped here, too, for servers that give more than they were asked for.
func leaf(tree map[string]any, path string) (Value, bool) {
	for _, part := range strings.Split(path, ".") {
		next, ok := tree[part].(map[string]any)
		if !ok {
			return Value{}, false
		}
		tree = next
	}
	var v Value
	writable, known := tree["_writable"].(bool)
	v.Writable = writable
	if IsSecret(path) {
		return v, known
	}
	value, has := tree["_value"]
	switch value := value.(type) {
	case string:
		v.Value = printable(value)
	case bool:
		v.Value = value
	case json.Number:
		if has = len(value) <= money.MaxDigits; has {
			v.Value = value
		}
	default:
		has = false
	}
	if has {
		v.Type, _ = tree["_type"].(string)
		if at, ok := tree["_timestamp"].(string); ok {
			v.At, _ = time.Parse(time.RFC3339Nano, at) // zero when it is no instant
		}
	}
	return v, known || has
}

// maxValue bounds the text of a parameter, in bytes; longer ones are cut.
const maxValue = 4096

// printable makes a device's text fit for databases and pages.
func printable(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == 0x2028 || r == 0x2029 {
			return '\uFFFD'
		}
		return r
	}, text)
}
