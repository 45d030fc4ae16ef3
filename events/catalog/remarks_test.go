package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// marker is a text that a person wrote about a subscriber; nothing may have it once the subscriber is forgotten.
const marker = "her husband Otieno pays late"

// said is the metadata of an event that a user caused and gave a reason for.
func said() events.Metadata {
	return events.Metadata{
		EventID: id.New[id.Event](), Said: personal.Of(marker),
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String()},
	}
}

// remarks are events of all kinds with free text about a subscriber in each of their personal fields.
func remarks(s id.Subscriber) []events.Event {
	text := personal.Of(marker)
	return []events.Event{
		events.InvoiceDrafted{SubscriberID: s, Lines: []events.InvoiceLine{{Description: text}}},
		events.InvoiceVoided{SubscriberID: s, Reason: text}, events.CreditNoteDrafted{SubscriberID: s, Reason: text},
		events.CreditNoteIssued{SubscriberID: s, Reason: text}, events.ReceiptWithdrawn{SubscriberID: s, Reason: text},
		events.InvoiceReopened{SubscriberID: s, Reason: text}, events.CreditSetAside{SubscriberID: s, Reason: text},
		events.SetAsideReturned{SubscriberID: s, Reason: text}, events.DebtWrittenOff{SubscriberID: s, Reason: text},
		events.AccountPeriodClosed{SubscriberID: s, Notes: []events.NoteReason{{Reason: text}}},
		events.SubscriberBlocked{SubscriberID: s, Reason: text},
		events.SubscriberUnblocked{SubscriberID: s, Reason: text},
		events.PeriodWithdrawn{SubscriberID: s, Reason: text}, events.SubscriptionPaused{SubscriberID: s, Reason: text},
		events.SubscriptionResumed{SubscriberID: s, Reason: text},
		events.SubscriptionEnded{SubscriberID: s, Reason: text}, events.ReceiptReversed{SubscriberID: s, Reason: text},
		events.ReceiptReattributed{From: s, Reason: text},
		events.MembershipDisabled{UserID: id.As[id.User](s), Reason: text},
	}
}

// texts are all personal texts of an event and its metadata, revealed, and the opening of a closed period.
func texts(t *testing.T, e events.Envelope) string {
	t.Helper()
	plain := e.Meta.Why()
	if closed, ok := e.Event.(events.AccountPeriodClosed); ok {
		plain += string(closed.Opening)
	}
	v := reflect.New(reflect.TypeOf(e.Event)).Elem()
	v.Set(reflect.ValueOf(e.Event))
	if err := standard.texts.visit(v, "", func(_ string, text personal.Text) (personal.Text, error) {
		plain += text.Reveal()
		return text, nil
	}); err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestRemarks_AreSealedErasedWithThePersonAndDroppedAfterwards(t *testing.T) {
	t.Parallel()
	keys, subscriber := NewMemoryKeys(), id.New[id.Subscriber]()
	codec := New(keys)
	write := func() []Encoded {
		var drafts []Draft
		for _, e := range remarks(subscriber) {
			drafts = append(drafts, Draft{Event: e, Meta: said()})
		}
		list, err := codec.Encode(t.Context(), drafts)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	read := func(list []Encoded) []events.Envelope {
		page := make([]Recorded, len(list))
		for i, e := range list {
			if strings.Contains(string(e.Data)+string(e.Metadata), marker) {
				t.Errorf("%s has the text plainly", e.Type)
			}
			page[i] = Recorded{Encoded: e}
		}
		found, err := codec.Decode(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := write()
	for _, e := range read(before) {
		if strings.Count(texts(t, e), marker) != 2 {
			t.Errorf("%s lost a text: %q", e.Type, texts(t, e))
		}
	}
	keys.Destroy(subscriber.UUID())
	for _, list := range [][]Encoded{before, write()} {
		for _, e := range read(list) {
			if strings.Contains(texts(t, e), marker) {
				t.Errorf("%s still has the text", e.Type)
			}
		}
	}
}

func TestRemarks_RecordedPlainlyReadAsErasedOnceThePersonIsForgotten(t *testing.T) {
	t.Parallel()
	keys, subscriber := NewMemoryKeys(), id.New[id.Subscriber]()
	codec := New(keys)
	opening, err := json.Marshal([]byte(`{"notes":{"` + id.New[id.Receipt]().String() + `":{"reason":"` + marker +
		`"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	who := `"subscriberId":"` + subscriber.String() + `"`
	var page []Recorded
	for name, data := range map[string]string{
		"billing.InvoiceVoided.v2":            `{` + who + `,"reason":"` + marker + `"}`,
		"billing.InvoiceVoided.v1":            `{` + who + `,"reason":"` + marker + `"}`,
		"billing.InvoiceDrafted.v1":           `{` + who + `,"lines":[{"description":"` + marker + `"}]}`,
		"subscribers.SubscriberRegistered.v1": `{` + who + `,"details":{"tags":["` + marker + `"]}}`,
		"subscribers.SubscriptionEnded.v1":    `{` + who + `,"reason":"` + marker + `"}`,
		"billing.AccountPeriodClosed.v1":      `{` + who + `,"opening":` + string(opening) + `}`,
		"subscribers.SubscriptionPaused.v1":   `{` + who + `,"reason":"` + marker + `"}`,
		"payments.ReceiptReversed.v1":         `{` + who + `,"reason":"` + marker + `"}`,
		"subscribers.PeriodWithdrawn.v1":      `{` + who + `,"reason":"` + marker + `"}`,
		"subscribers.SubscriberBlocked.v1":    `{` + who + `,"reason":"` + marker + `"}`,
		"billing.CreditNoteDrafted.v1":        `{` + who + `,"reason":"` + marker + `"}`,
	} {
		page = append(page, Recorded{Encoded: Encoded{
			ID: id.New[id.Event](), Type: name, Data: []byte(data),
			Metadata: []byte(`{"actor":{"kind":"user","id":"` + id.New[id.User]().String() + `"},"reason":"` + marker +
				`"}`),
		}})
	}
	if _, err := keys.EnsureKeys(t.Context(), []uuid.UUID{subscriber.UUID()}); err != nil {
		t.Fatal(err)
	}
	found, err := codec.Decode(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if strings.Count(texts(t, e), marker) != 2 {
			t.Errorf("%s lost a text: %q", e.Type, texts(t, e))
		}
		again, err := codec.Encode(t.Context(), []Draft{{Event: e.Event, Meta: said()}})
		if err != nil || strings.Contains(string(again[0].Data), marker) {
			t.Errorf("%s is written again with %s, %v", e.Type, again[0].Data, err)
		}
	}
	keys.Destroy(subscriber.UUID())
	if found, err = codec.Decode(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if strings.Contains(texts(t, e), marker) {
			t.Errorf("%s still has the text", e.Type)
		}
	}
}

func TestDetails_PlaceAndReferenceRecordedPlainlyReadAsErasedOnceThePersonIsForgotten(t *testing.T) {
	t.Parallel()
	keys, subscriber := NewMemoryKeys(), id.New[id.Subscriber]()
	codec := New(keys)
	data := `{"subscriberId":"` + subscriber.String() +
		`","details":{"location":{"latitude":-1.28,"longitude":36.82},"externalRef":"` + marker + `"}}`
	var page []Recorded
	for _, name := range []string{
		"SubscriberRegistered.v1", "SubscriberRegistered.v2", "SubscriberDetailsCorrected.v2",
	} {
		page = append(page, Recorded{Encoded: Encoded{
			ID: id.New[id.Event](), Type: "subscribers." + name, Data: []byte(data), Metadata: []byte(`{}`),
		}})
	}
	if _, err := keys.EnsureKeys(t.Context(), []uuid.UUID{subscriber.UUID()}); err != nil {
		t.Fatal(err)
	}
	for _, forgotten := range []bool{false, true} {
		if forgotten {
			keys.Destroy(subscriber.UUID())
		}
		found, err := codec.Decode(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			var d events.SubscriberDetails
			switch v := e.Event.(type) {
			case events.SubscriberRegistered:
				d = v.Details
			case events.SubscriberDetailsCorrected:
				d = v.Details
			}
			place := d.Place()
			if forgotten && (place != nil || d.ExternalRef.Reveal() != "") {
				t.Errorf("%s still has %v and %q", e.Type, place, d.ExternalRef.Reveal())
			}
			if !forgotten && (place == nil || *place != (events.Location{Latitude: -1.28, Longitude: 36.82}) ||
				d.ExternalRef.Reveal() != marker) {
				t.Errorf("%s lost a text: %v, %q", e.Type, place, d.ExternalRef.Reveal())
			}
		}
	}
}
