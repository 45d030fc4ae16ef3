package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// contact is a nested part of the test's event.
type contact struct {
	Phone personal.Text `json:"phone"`
	Label string        `json:"label"`
}

// described is embedded without an exported name, which the codec refuses.
type described struct {
	Note personal.Text `json:"note"`
}

// moved is an event for tests, with personal text in every kind of place.
type moved struct {
	described
	Described
	Who      uuid.UUID        `json:"who"`
	Contacts []contact        `json:"contacts"`
	Main     *contact         `json:"main"`
	Pair     [2]personal.Text `json:"pair"`
	Absent   *contact         `json:"absent"`
}

// Described is embedded with an exported name; JSON lifts its field into the event.
type Described struct {
	Remark personal.Text `json:"remark"`
}

func (moved) EventType() string            { return "test.Moved.v2" }
func (e moved) PersonalSubject() uuid.UUID { return e.Who }

// tidy is moved without the unexported part.
type tidy struct {
	Described
	Who      uuid.UUID        `json:"who"`
	Contacts []contact        `json:"contacts"`
	Main     *contact         `json:"main"`
	Pair     [2]personal.Text `json:"pair"`
	Absent   *contact         `json:"absent"`
}

func (tidy) EventType() string            { return "test.Moved.v2" }
func (e tidy) PersonalSubject() uuid.UUID { return e.Who }

// testCodec has one event type and the upcaster of its version 1.
func testCodec(t *testing.T, keys Keys) *Codec {
	t.Helper()
	reg, err := newRegistry([]events.Event{tidy{}}, []Upcaster{
		{From: "test.Moved.v1", To: "test.Moved.v2", Up: moveNumber},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Codec{keys: keys, reg: reg}
}

// moveNumber moves the number of version 1 into the contacts of version 2.
func moveNumber(old json.RawMessage) (json.RawMessage, error) {
	var v1 struct {
		Who    uuid.UUID       `json:"who"`
		Number json.RawMessage `json:"number"`
	}
	if err := json.Unmarshal(old, &v1); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"who": v1.Who, "contacts": []any{map[string]any{"phone": v1.Number, "label": "number"}},
	})
}

// sample is an event with two contacts about a subject.
func sample(who uuid.UUID) Draft {
	e := tidy{
		Who: who, Contacts: []contact{{personal.Of("+254700000001"), "a"}, {personal.Of("+254700000002"), "b"}},
		Main: &contact{personal.Of("+254700000003"), "m"}, Pair: [2]personal.Text{personal.Of("left"), {}},
	}
	e.Remark = personal.Of("likes tea")
	return Draft{
		Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), IP: personal.Of("203.0.113.1"), Actor: events.Actor{Kind: events.ActorPublic},
		},
	}
}

// recorded adds a place in the log to an encoded event.
func recorded(e Encoded) Recorded {
	return Recorded{Encoded: e, Stream: "test-1", Revision: 4, Position: 99}
}

// mustEncode encodes one event and ends the test at a failure.
func mustEncode(t *testing.T, c *Codec, d Draft) Encoded {
	t.Helper()
	out, err := c.Encode(t.Context(), []Draft{d})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestCodec_SealsEveryPersonalTextAndOpensIt(t *testing.T) {
	t.Parallel()
	codec, d := testCodec(t, NewMemoryKeys()), sample(uuid.New())
	stored := mustEncode(t, codec, d)
	for _, plain := range []string{"25470000", "left", "likes tea", "203.0.113"} {
		if strings.Contains(string(stored.Data)+string(stored.Metadata), plain) {
			t.Errorf("%q is readable in the log", plain)
		}
	}
	got, err := codec.Decode(t.Context(), []Recorded{recorded(stored)})
	if err != nil {
		t.Fatal(err)
	}
	want := []events.Envelope{
		{
			ID: d.Meta.EventID, Stream: "test-1", Revision: 4, Position: 99, Type: "test.Moved.v2", Event: d.Event,
			Meta: d.Meta,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
	if d.Event.(tidy).Main.Phone.Reveal() != "+254700000003" || d.Event.(tidy).Contacts[0].Phone.IsZero() {
		t.Error("encoding changed the event")
	}
}

func TestCodec_AForgottenSubjectReadsAsErased(t *testing.T) {
	t.Parallel()
	keys, d := NewMemoryKeys(), sample(uuid.New())
	codec := testCodec(t, keys)
	stored := mustEncode(t, codec, d)
	keys.Destroy(d.Event.(tidy).Who)
	got, err := codec.Decode(t.Context(), []Recorded{recorded(stored)})
	if err != nil {
		t.Fatal(err)
	}
	e := got[0].Event.(tidy)
	if !e.Contacts[1].Phone.Erased() || !e.Main.Phone.Erased() || !e.Remark.Erased() || e.Contacts[1].Label != "b" ||
		e.Pair[1].Erased() {
		t.Errorf("read %+v", e)
	}
	if got[0].Meta.IP.Reveal() != "203.0.113.1" {
		t.Error("another subject's text is gone, too")
	}
	if _, err := codec.Encode(t.Context(), []Draft{d}); failure.CodeOf(err) != forgottenCode {
		t.Errorf("writing about a forgotten subject: %v", err)
	}
}

func TestCodec_NoAddressIsKeptOfAForgottenActor(t *testing.T) {
	t.Parallel()
	keys, d := NewMemoryKeys(), sample(uuid.New())
	codec := testCodec(t, keys)
	keys.Destroy(d.Meta.IPSubject())
	got, err := codec.Decode(t.Context(), []Recorded{recorded(mustEncode(t, codec, d))})
	if err != nil || !got[0].Meta.IP.IsZero() || got[0].Event.(tidy).Remark.Reveal() != "likes tea" {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestCodec_ASealedTextHoldsInItsPlaceOnly(t *testing.T) {
	t.Parallel()
	codec, d := testCodec(t, NewMemoryKeys()), sample(uuid.New())
	stored := mustEncode(t, codec, d)
	swapped := stored
	tree := decodeTree(t, stored.Data).(map[string]any)
	tree["main"].(map[string]any)["phone"] = tree["remark"]
	swapped.Data, _ = json.Marshal(tree)
	if _, err := codec.Decode(t.Context(), []Recorded{recorded(swapped)}); !errors.Is(err, errTampered) {
		t.Errorf("text moved to another field: %v", err)
	}
	other := stored
	other.ID = id.New[id.Event]()
	if _, err := codec.Decode(t.Context(), []Recorded{recorded(other)}); !errors.Is(err, errTampered) {
		t.Errorf("payload moved to another event: %v", err)
	}
}

func TestCodec_AnOldVersionIsReadAsThePresentOne(t *testing.T) {
	t.Parallel()
	keys, who, event := NewMemoryKeys(), uuid.New(), id.New[id.Event]()
	codec := testCodec(t, keys)
	made, err := keys.EnsureKeys(t.Context(), []uuid.UUID{who})
	if err != nil {
		t.Fatal(err)
	}
	number, err := seal(made[who], event, "number", personal.Of("+254711"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"who": who, "number": number})
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.Decode(t.Context(), []Recorded{
		recorded(Encoded{ID: event, Type: "test.Moved.v1", Data: body, Metadata: []byte("{}")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := tidy{Who: who, Contacts: []contact{{personal.Of("+254711"), "number"}}}
	if diff := cmp.Diff(events.Event(want), got[0].Event); diff != "" || got[0].Type != "test.Moved.v2" {
		t.Errorf("%s (-want +have)\n%s", got[0].Type, diff)
	}
	if diff := cmp.Diff([]string{"test.Moved.v1", "test.Moved.v2"},
		codec.StoredTypes([]string{"test.Moved.v2"})); diff != "" {
		t.Errorf("stored names (-want +have)\n%s", diff)
	}
}

func TestCodec_PoisonIsNamedAndWhatStandsBeforeItIsGiven(t *testing.T) {
	t.Parallel()
	codec := testCodec(t, NewMemoryKeys())
	good := recorded(mustEncode(t, codec, sample(uuid.New())))
	for name, spoil := range map[string]func(*Recorded){
		"unknown type":  func(r *Recorded) { r.Type = "test.Nobody.v1" },
		"later version": func(r *Recorded) { r.Type = "test.Moved.v3" },
		"not JSON":      func(r *Recorded) { r.Data = []byte("{") },
		"another form":  func(r *Recorded) { r.Data = []byte(`{"contacts": 7}`) },
		"no metadata":   func(r *Recorded) { r.Metadata = nil },
		"not sealed":    func(r *Recorded) { r.Data = []byte(`{"remark": "plain"}`) },
		"cut ciphertext": func(r *Recorded) {
			r.Data = []byte(strings.Replace(string(r.Data), `"$sealed":"`,
				`"$sealed":"AA`, 1))
		},
		"broken old form": func(r *Recorded) { r.Type, r.Data = "test.Moved.v1", []byte("7") },
	} {
		bad := good
		bad.Position = 100
		spoil(&bad)
		got, err := codec.Decode(t.Context(), []Recorded{good, bad, good})
		var poison *UndecodableError
		if !errors.As(err, &poison) || poison.Position != 100 || poison.Stream != "test-1" || poison.Revision != 4 ||
			len(got) != 1 {
			t.Errorf("%s: %d events, %v", name, len(got), err)
		}
	}
}

// TestCodec_ALongPageEndsBeforeItsFirstPoison: several processors parse it.
func TestCodec_ALongPageEndsBeforeItsFirstPoison(t *testing.T) {
	t.Parallel()
	codec := testCodec(t, NewMemoryKeys())
	page := slices.Repeat([]Recorded{recorded(mustEncode(t, codec, sample(uuid.New())))}, 300)
	for i := range page {
		page[i].Position = uint64(i)
	}
	got, err := codec.Decode(t.Context(), page)
	if err != nil || len(got) != len(page) {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for _, at := range []int{299, 160, 140, 7} { // each before the former ones, which stay
		page[at].Data = []byte("7")
		got, err := codec.Decode(t.Context(), page)
		var poison *UndecodableError
		if !errors.As(err, &poison) || poison.Position != uint64(at) || len(got) != at {
			t.Errorf("%d: %d events, %v", at, len(got), err)
		}
		for i, e := range got {
			if e.Position != uint64(i) || e.Event == nil {
				t.Fatalf("%d: %+v", i, e)
			}
		}
	}
}

func TestCodec_OutOfReachKeysAreNoPoison(t *testing.T) {
	t.Parallel()
	stored := recorded(mustEncode(t, testCodec(t, NewMemoryKeys()), sample(uuid.New())))
	got, err := testCodec(t, noKeys{}).Decode(t.Context(), []Recorded{stored})
	var poison *UndecodableError
	if err == nil || errors.As(err, &poison) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := testCodec(t, noKeys{}).Encode(t.Context(), []Draft{sample(uuid.New())}); err == nil {
		t.Error("encoded without keys")
	}
}

// noKeys is a vault that cannot be reached.
type noKeys struct{}

// Keys always fails.
func (noKeys) Keys(context.Context, []uuid.UUID) (map[uuid.UUID]Key, error) {
	return nil, errors.New("no connection")
}

// EnsureKeys always fails.
func (noKeys) EnsureKeys(context.Context, []uuid.UUID) (map[uuid.UUID]Key, error) {
	return nil, errors.New("no connection")
}

// Event types that a registry must refuse.
type (
	wrongName  struct{}
	wrongPlace struct {
		Texts map[string]personal.Text `json:"texts"`
	}
	wrongOwner struct {
		Text personal.Text `json:"text"`
	}
)

func (wrongName) EventType() string           { return "Test.lower.v1" }
func (wrongPlace) EventType() string          { return "test.Place.v1" }
func (wrongPlace) PersonalSubject() uuid.UUID { return uuid.UUID{} }
func (wrongOwner) EventType() string          { return "test.Owner.v1" }

func TestRegistry_RefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	up := func(m json.RawMessage) (json.RawMessage, error) { return m, nil }
	for name, c := range map[string]struct {
		list []events.Event
		ups  []Upcaster
	}{
		"name":               {list: []events.Event{wrongName{}}},
		"text in a map":      {list: []events.Event{wrongPlace{}}},
		"text of nobody":     {list: []events.Event{wrongOwner{}}},
		"unexported text":    {list: []events.Event{moved{}}},
		"twice":              {list: []events.Event{tidy{}, tidy{}}},
		"upcast to nothing":  {list: []events.Event{tidy{}}, ups: []Upcaster{{"test.Moved.v0", "test.Other.v1", up}}},
		"upcast of present":  {list: []events.Event{tidy{}}, ups: []Upcaster{{"test.Moved.v2", "test.Moved.v2", up}}},
		"upcast in a circle": {ups: []Upcaster{{"test.A.v1", "test.A.v2", up}, {"test.A.v2", "test.A.v1", up}}},
	} {
		if _, err := newRegistry(c.list, c.ups); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCodec_WritesOnlyWhatItKnows(t *testing.T) {
	t.Parallel()
	codec := New(NewMemoryKeys())
	if _, err := codec.Encode(t.Context(),
		[]Draft{{Event: wrongName{}, Meta: events.Metadata{EventID: id.New[id.Event]()}}}); !errors.Is(err,
		ErrUnknownType) {
		t.Errorf("unknown event: %v", err)
	}
	if _, err := codec.Encode(t.Context(), []Draft{{Event: events.PlanArchived{}}}); err == nil {
		t.Error("encoded without an event id")
	}
}

func TestCodec_AnyTextSurvives(t *testing.T) {
	t.Parallel()
	codec := testCodec(t, NewMemoryKeys())
	rapid.Check(t, func(rt *rapid.T) {
		d := sample(uuid.New())
		e := d.Event.(tidy)
		for range rapid.IntRange(0, 5).Draw(rt, "contacts") {
			e.Contacts = append(e.Contacts, contact{personal.Of(rapid.String().Draw(rt, "phone")), "x"})
		}
		d.Event = e
		got, err := codec.Decode(t.Context(), []Recorded{recorded(mustEncode(t, codec, d))})
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(d.Event, got[0].Event); diff != "" {
			rt.Fatalf("(-want +have)\n%s", diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("test.Moved.v2", []byte(`{"contacts":[{"phone":{"$sealed":"AAAA"}}]}`),
		[]byte(`{"at":"2026-03-01T00:00:00Z"}`))
	f.Add("test.Moved.v1", []byte(`{"number":{"$sealed":"AAAA"}}`), []byte(`{"ip":{"$sealed":"AAAA"}}`))
	reg, err := newRegistry([]events.Event{tidy{}}, []Upcaster{
		{From: "test.Moved.v1", To: "test.Moved.v2", Up: moveNumber},
	})
	if err != nil {
		f.Fatal(err)
	}
	codec := &Codec{keys: goldenKeys{}, reg: reg}
	f.Fuzz(func(t *testing.T, name string, data, meta []byte) {
		_, _ = codec.Decode(t.Context(), []Recorded{{Encoded: Encoded{Type: name, Data: data, Metadata: meta}}})
	})
}
