package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// goldenDir has one file for each event type and version.
const goldenDir = "../testdata"

// writeMissing creates files for types without one. An existing file never changes, because recorded events have this
// form.
var writeMissing = flag.Bool("update", false, "write testdata for event types that have none")

// golden is one file: an event in the form that the log stores.
type golden struct {
	Type     string          `json:"type"`
	Data     json.RawMessage `json:"data"`
	Metadata json.RawMessage `json:"metadata"`
}

// TestGolden_EveryTypeReadsWhatWasRecorded decodes the file of each type strictly: a recorded field that is no longer
// read would lose a fact.
func TestGolden_EveryTypeReadsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkGolden(t, readGolden(t, name))
		})
	}
}

// TestUpcasters_EachReadsARecordedForm wants a file for the old form that an upcaster reads: without one nobody would
// notice that it reads something else than what was recorded.
func TestUpcasters_EachReadsARecordedForm(t *testing.T) {
	t.Parallel()
	for from := range standard.upcasts {
		if _, err := os.Stat(filepath.Join(goldenDir, from+".json")); err != nil {
			t.Errorf("no event was recorded in the form that an upcaster reads: %v", err)
		}
	}
}

// readGolden reads the file of a type; with -update it writes one that is missing, whichever test comes first.
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	path := filepath.Join(goldenDir, name+".json")
	body, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *writeMissing {
		return recordSample(t, path, name)
	}
	if err != nil {
		t.Fatalf("%v: run `go test ./events/catalog -update`", err)
	}
	return body
}

// goldenNames lists the present types, and the old versions that have a file.
func goldenNames(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	names := Types()
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkGolden decodes one file, writes the event again and compares it with the file.
func checkGolden(t *testing.T, body []byte) {
	t.Helper()
	var g golden
	if err := json.Unmarshal(body, &g); err != nil {
		t.Fatal(err)
	}
	codec := New(goldenKeys{})
	event := sampleID(g.Type)
	list, err := codec.Decode(t.Context(), []Recorded{
		{Encoded: Encoded{ID: event, Type: g.Type, Data: g.Data, Metadata: g.Metadata}},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkOpened(t, list[0], decodeTree(t, g.Data))
	if standard.types[g.Type] == nil {
		return // an old version, whose upcaster may drop fields
	}
	strict := json.NewDecoder(bytes.NewReader(g.Data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(reflect.New(standard.types[g.Type]).Interface()); err != nil {
		t.Errorf("a recorded field is no longer read: %v", err)
	}
	again, err := codec.Encode(t.Context(), []Draft{{Event: list[0].Event, Meta: list[0].Meta}})
	if err != nil {
		t.Fatal(err)
	}
	checkContains(t, "", decodeTree(t, g.Data), decodeTree(t, again[0].Data))
	metadata := decodeTree(t, g.Metadata)
	if tree, ok := metadata.(map[string]any); ok && tree["said"] == nil {
		if got := list[0].Meta.Said.Reveal(); got != tree["reason"] { // recorded before reasons were personal
			t.Errorf("the recorded reason %v reads as %q", tree["reason"], got)
		}
		delete(tree, "reason")
	}
	checkContains(t, "", metadata, decodeTree(t, again[0].Metadata))
}

// checkOpened wants every recorded personal field to be readable. A field that a later version added is empty.
func checkOpened(t *testing.T, e events.Envelope, recorded any) {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e.Event)).Elem()
	v.Set(reflect.ValueOf(e.Event))
	err := standard.texts.visit(v, "", func(path string, text personal.Text) (personal.Text, error) {
		if absent(recorded, path) && text.Reveal() == "" {
			return text, nil
		}
		if text.Reveal() == "" || text.Erased() {
			t.Errorf("personal field %s does not open", path)
		}
		return text, nil
	})
	if err != nil {
		t.Error(err)
	}
	if e.Meta.IP.Reveal() == "" {
		t.Error("the address does not open")
	}
}

// absent reports whether a recorded tree has no field of the name that a path ends in, such as "details.taxPin".
func absent(tree any, path string) bool {
	before, name := "", path
	if cut := strings.LastIndexByte(path, '.'); cut >= 0 {
		before, name = path[:cut], path[cut+1:]
	}
	if before != "" {
		for step := range strings.SplitSeq(before, ".") {
			fields, _ := tree.(map[string]any)
			if tree = fields[step]; tree == nil {
				return false // a list, or an object that is not there
			}
		}
	}
	fields, ok := tree.(map[string]any)
	_, there := fields[name]
	return ok && !there
}

// checkContains wants every recorded field in the tree that is written today; today's tree may have more.
func checkContains(t *testing.T, path string, recorded, today any) {
	t.Helper()
	was, ok := recorded.(map[string]any)
	is, both := today.(map[string]any)
	if !ok || !both {
		if diff := cmp.Diff(recorded, today); diff != "" {
			t.Errorf("%s is written otherwise (-recorded +today)\n%s", path, diff)
		}
		return
	}
	for name, value := range was {
		if _, there := is[name]; !there {
			t.Errorf("%s is no longer written", join(path, name))
			continue
		}
		checkContains(t, join(path, name), value, is[name])
	}
}

// decodeTree parses any JSON.
func decodeTree(t *testing.T, body []byte) any {
	t.Helper()
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// recordSample writes the file of a type, from an event with every field filled.
func recordSample(t *testing.T, path, name string) []byte {
	t.Helper()
	v := reflect.New(standard.types[name]).Elem()
	fillSample(v, name)
	var meta events.Metadata
	fillSample(reflect.ValueOf(&meta).Elem(), "metadata")
	meta.EventID, meta.Actor.Kind, meta.Actor.ID = sampleID(name), events.ActorUser,
		id.Derive[id.User]("sample", "user").String()
	encoded, err := New(goldenKeys{}).Encode(t.Context(), []Draft{{Event: v.Interface().(events.Event), Meta: meta}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.MarshalIndent(golden{Type: name, Data: encoded[0].Data, Metadata: encoded[0].Metadata}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.CreateTemp(goldenDir, "new") // another test may read the file as soon as it has its name
	if err == nil {
		_, err = whole.Write(append(body, '\n'))
		err = errors.Join(err, whole.Chmod(0o644), whole.Close(), os.Rename(whole.Name(), path))
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sampleID is the id of the event in a type's file; it follows from the name.
func sampleID(name string) id.Event { return id.Derive[id.Event]("sample", name) }

// fillSample gives every field a value that follows from its path.
func fillSample(v reflect.Value, path string) {
	switch p := v.Addr().Interface().(type) {
	case *personal.Text:
		*p = personal.Of("personal " + path)
		return
	case *time.Time:
		*p = time.Date(2026, 3, 14, 9, 26, 53, 589_000_000, time.UTC)
		return
	case *calendar.Date:
		*p = calendar.Date{Year: 2026, Month: 3, Day: 31}
		return
	case *money.Amount:
		*p = money.Of(123_450, money.KES)
		return
	case *[]byte:
		*p = []byte(`{"state":"` + path + `"}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(path)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.25)
	case reflect.Array: // ids
		reflect.Copy(v, reflect.ValueOf(id.Derive[id.Any]("sample", path)))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fillSample(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map: // by texts
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fillSample(value, path)
		v.SetMapIndex(reflect.ValueOf("name").Convert(v.Type().Key()), value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillSample(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillSample(v.Field(i), join(path, jsonName(v.Type().Field(i))))
			}
		}
	default:
		panic("no sample for " + v.Type().String() + " at " + path)
	}
}

// goldenKeys has the same key for every subject. It seals the same text in the same way.
type goldenKeys struct{}

// Keys returns a key for every subject.
func (goldenKeys) Keys(_ context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	out := make(map[uuid.UUID]Key)
	for _, s := range subjects {
		out[s] = goldenKey(s.String())
	}
	return out, nil
}

// EnsureKeys returns the same keys as Keys.
func (k goldenKeys) EnsureKeys(ctx context.Context, subjects []uuid.UUID) (map[uuid.UUID]Key, error) {
	return k.Keys(ctx, subjects)
}

// goldenKey writes subject, place and text openly, so that people can read the files. It does not encrypt.
type goldenKey string

// Seal puts the key and the place before the text.
func (k goldenKey) Seal(plain, associated []byte) []byte {
	head := []byte(string(k) + string(associated))
	return append(append(binary.BigEndian.AppendUint16(nil, uint16(len(head))), head...), plain...)
}

// Open removes key and place, and refuses a text with others.
func (k goldenKey) Open(sealed, associated []byte) ([]byte, error) {
	if want := k.Seal(nil, associated); !strings.HasPrefix(string(sealed), string(want)) {
		return nil, errTampered
	}
	return sealed[len(k.Seal(nil, associated)):], nil
}
