package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// uuidShape finds ids in a recorded event.
var uuidShape = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// zeroID is the text of an id that was never set.
const zeroID = "00000000-0000-0000-0000-000000000000"

// TestProcesses_EachSubjectHasAnInstanceOfItsOwn gives each process two events of each type about different subjects:
// with one key for both they would share a state, and the money of two receipts would take one way.
func TestProcesses_EachSubjectHasAnInstanceOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, p := range processes() {
		def := p.Erase()
		for _, eventType := range def.Types {
			one, other := recordedAbout(t, eventType, "one"), recordedAbout(t, eventType, "other")
			key := def.Key(one)
			switch {
			case key == zeroID:
				t.Errorf("%s: the key of %s is the id that was never set", def.Name, eventType)
			case key == def.Key(other):
				t.Errorf("%s: two subjects of %s share the instance %s", def.Name, eventType, key)
			case key != def.Key(recordedAbout(t, eventType, "one")):
				t.Errorf("%s: one subject of %s has two instances", def.Name, eventType)
			}
		}
	}
}

// recordedAbout is the recorded event of a type with all its ids replaced: those of a subject are always the same.
func recordedAbout(t *testing.T, eventType, subject string) events.Envelope {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "events", "testdata", eventType+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Data, Metadata json.RawMessage
	}
	if err := json.Unmarshal(body, &file); err != nil {
		t.Fatal(err)
	}
	replace := func(document []byte) []byte {
		return uuidShape.ReplaceAllFunc(document, func(found []byte) []byte {
			return []byte(id.Derive[id.Any](subject, string(found)).String())
		})
	}
	list, err := catalog.New(catalog.NewMemoryKeys()).Decode(t.Context(), []catalog.Recorded{{
		Encoded: catalog.Encoded{
			ID: id.Derive[id.Event](subject, eventType), Type: eventType, Data: replace(file.Data),
			Metadata: replace(file.Metadata),
		},
		Stream: "sample-" + id.Derive[id.Any](subject).String(), Position: 42,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}
