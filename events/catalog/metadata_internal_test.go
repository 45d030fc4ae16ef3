package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// sealedText is a personal text as the log has it.
func sealedText(t testing.TB, octets string) personal.Text {
	t.Helper()
	text, err := personal.Of("plain").Seal(func([]byte) ([]byte, error) { return []byte(octets), nil })
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fullMetadata has every field.
func fullMetadata(t testing.TB) events.Metadata {
	t.Helper()
	return events.Metadata{
		EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.New[id.Any](),
		Action: "subscribers.RegisterSubscriber", OrgID: id.New[id.Organization](),
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: "admin"},
		IP:    sealedText(t, "an address\xff\xfe?"), RequestID: "request-1", CorrelationID: "c", CausationID: "d",
		Reason: "code", Said: sealedText(t, "said"), SaidOf: id.New[id.Any](),
		At: time.Date(2026, 11, 20, 10, 15, 0, 120, time.UTC),
	}
}

// sameMetadata compares what two readers made.
var sameMetadata = cmp.Options{cmpopts.EquateEmpty(), cmp.AllowUnexported(personal.Text{})}

// checkMetadata compares both ways of writing and of reading.
func checkMetadata(t *testing.T, m events.Metadata) {
	t.Helper()
	want, err := json.Marshal(m)
	got, failed := encodeMetadata(&m)
	if (err == nil) != (failed == nil) || string(got) != string(want) {
		t.Fatalf("written as\n%s, %v, want\n%s, %v", got, failed, want, err)
	}
	checkRead(t, want)
}

// checkRead compares both ways of reading.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	var want, got events.Metadata
	err, failed := json.Unmarshal(data, &want), decodeMetadata(data, &got)
	if (err == nil) != (failed == nil) {
		t.Fatalf("%s: %v, want %v", data, failed, err)
	}
	if diff := cmp.Diff(want, got, sameMetadata); err == nil && diff != "" {
		t.Fatalf("%s: %s", data, diff)
	}
}

func TestMetadata_IsWrittenAndReadAsByTheStandardLibrary(t *testing.T) {
	t.Parallel()
	full := fullMetadata(t)
	for n := range reflect.TypeFor[events.Metadata]().NumField() {
		if name := reflect.TypeFor[events.Metadata]().Field(n).Name; name != "RecentCommands" &&
			reflect.ValueOf(full).Field(n).IsZero() {
			t.Errorf("the field %s is not compared", name)
		}
	}
	checkMetadata(t, full)
	checkMetadata(t, events.Metadata{})
	var quick events.Metadata
	if written, err := encodeMetadata(&full); err != nil || !(&metadataReader{rest: written, ok: true}).all(&quick) {
		t.Errorf("what is written is not read by hand: %s, %v", written, err)
	}
	for name, change := range map[string]func(*events.Metadata){
		"escapes": func(m *events.Metadata) { m.Reason = "\"<b>&\\\u2028\x7f\n" },
		"umlauts": func(m *events.Metadata) { m.RequestID = "jambo ä 日" },
		"no text": func(m *events.Metadata) { m.RequestID = "\xff" },
		"zone":    func(m *events.Metadata) { m.At = m.At.In(time.FixedZone("EAT", 3*3600)) },
		"local":   func(m *events.Metadata) { m.At = m.At.Local() },
		"year":    func(m *events.Metadata) { m.At = m.At.AddDate(9000, 0, 0) },
		"closing": func(m *events.Metadata) { m.RecentCommands = []id.Command{id.New[id.Command]()} },
		"open ip": func(m *events.Metadata) { m.IP = personal.Of("203.0.113.7") },
		"bare":    func(m *events.Metadata) { m.Said = personal.Bare("words") },
		"no org":  func(m *events.Metadata) { m.OrgID, m.Actor.ID, m.Actor.Role = id.Organization{}, "", "" },
		"no said": func(m *events.Metadata) { m.Said, m.SaidOf, m.IP = personal.Text{}, id.Any{}, personal.Text{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := full
			change(&m)
			checkMetadata(t, m)
		})
	}
}

func FuzzMetadata_IsReadAsByTheStandardLibrary(f *testing.F) {
	full, err := json.Marshal(fullMetadata(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	for _, change := range [][2]string{
		{`"action":"`, `"action":"\u0041`}, {`,"at":"`, `, "at":"`}, {`,"orgId"`, `,"ORGID"`},
		{`"kind"`, `"x":1,"kind"`},
		{`{"$sealed":"`, `{"$sealed":"!`}, {`{"$sealed":"`, `{"$bare":"x","$sealed":"`}, {`"}`, `","at":null}`},
		{`"requestId":"`, "\"requestId\":\"\u00e4"}, {`"eventId":"`, `"eventId":"x`}, {`Z"}`, `+03:00"}`},
		{`Z"}`, `Z"} `}, {`Z"}`, `Z"}}`}, {`{"$sealed":"`, "{\"$sealed\":\"\n"}, {`,"ip":{`, `,"ip":null,"said":{`},
	} {
		f.Add([]byte(strings.Replace(string(full), change[0], change[1], 1)))
	}
	f.Add([]byte(`{"eventId":null,"commandId":null,"aggregateId":null,"action":"","orgId":null,"actor":{"kind":""},` +
		`"at":""}`))
	f.Fuzz(checkRead)
}

// BenchmarkMetadata writes and reads metadata, by hand and by the standard library.
func BenchmarkMetadata(b *testing.B) {
	m := fullMetadata(b)
	for name, way := range map[string]struct {
		write func(*events.Metadata) ([]byte, error)
		read  func([]byte, *events.Metadata) error
	}{
		"library": {
			func(m *events.Metadata) ([]byte, error) { return json.Marshal(m) },
			func(data []byte, m *events.Metadata) error { return json.Unmarshal(data, m) },
		},
		"hand": {encodeMetadata, decodeMetadata},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var got events.Metadata
				data, err := way.write(&m)
				if err == nil {
					err = way.read(data, &got)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
