package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FuzzRecorded checks that an event of the log, of any type and version, is either told as undecodable or read in a
// form that is written and read again as the same event.
func FuzzRecorded(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d recorded events, %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var stored golden
		if err := json.Unmarshal(body, &stored); err != nil {
			f.Fatal(err)
		}
		f.Add(stored.Type, []byte(stored.Data))
	}
	f.Add("billing.InvoiceIssued.v1", []byte(`null`))
	f.Add("billing.Nothing.v1", []byte(`{}`))
	codec := New(NewMemoryKeys())
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		event := id.Derive[id.Event]("test", name)
		first := Recorded{Encoded: Encoded{ID: event, Type: name, Data: data, Metadata: []byte(`{}`)}, Stream: "s-1"}
		read, err := codec.Decode(t.Context(), []Recorded{first})
		if err != nil {
			var undecodable *UndecodableError
			if !errors.As(err, &undecodable) || undecodable.Type != name || len(read) > 0 {
				t.Fatalf("%s %s: %v", name, data, err)
			}
			return
		}
		meta := read[0].Meta
		meta.EventID = event
		written, err := codec.Encode(t.Context(), []Draft{{Event: read[0].Event, Meta: meta}})
		if err != nil {
			t.Fatalf("%s %s cannot be written again: %v", name, data, err)
		}
		again, err := codec.Decode(t.Context(), []Recorded{{Encoded: written[0], Stream: "s-1"}})
		if err != nil {
			t.Fatalf("%s cannot be read again: %v", written[0].Data, err)
		}
		if _, personal := read[0].Event.(events.AboutPerson); personal {
			return // each writing seals anew
		}
		meta = again[0].Meta
		meta.EventID = event
		second, err := codec.Encode(t.Context(), []Draft{{Event: again[0].Event, Meta: meta}})
		if err != nil || !bytes.Equal(second[0].Data, written[0].Data) {
			t.Fatalf("%s %s is written as %s, then as %s, %v", name, data, written[0].Data, second[0].Data, err)
		}
	})
}
