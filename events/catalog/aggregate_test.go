package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ownIDs is the JSON name of the field with the aggregate's id, for each kind of aggregate that had periods before
// metadata had the id.
var ownIDs = map[reflect.Type]string{
	reflect.TypeFor[events.AccountEvent]():      "subscriberId",
	reflect.TypeFor[events.NumberingEvent]():    "seriesId",
	reflect.TypeFor[events.SubscriptionEvent](): "subscriptionId",
	reflect.TypeFor[events.DeviceEvent]():       "deviceId",
	reflect.TypeFor[events.ServiceEvent]():      "serviceId",
	reflect.TypeFor[events.ReconcileEvent]():    "runId",
	reflect.TypeFor[events.AddressingEvent]():   "orgId",
}

// ownID is the field in ownIDs for an event type; "" for events of streams without periods.
func ownID(t reflect.Type) string {
	for family, name := range ownIDs {
		if t.Implements(family) {
			return name
		}
	}
	return ""
}

// old is a recorded event as it was before metadata had the aggregate's id, in a stream with the given id.
func old(t *testing.T, name string, stream uuid.UUID) Recorded {
	t.Helper()
	var g golden
	if err := json.Unmarshal(readGolden(t, name), &g); err != nil {
		t.Fatal(err)
	}
	meta, _ := decodeTree(t, g.Metadata).(map[string]any)
	delete(meta, "aggregateId")
	metadata, err := json.Marshal(meta)
	if err != nil {
		t.Fatal(err)
	}
	return Recorded{
		Encoded: Encoded{ID: sampleID(name), Type: name, Data: g.Data, Metadata: metadata},
		Stream:  "category-" + stream.String(), Revision: 3, Position: 99,
	}
}

// aggregateRead is the aggregate's id in the metadata of a decoded event.
func aggregateRead(t *testing.T, r Recorded) id.Any {
	t.Helper()
	list, err := New(goldenKeys{}).Decode(t.Context(), []Recorded{r})
	if err != nil {
		t.Fatal(err)
	}
	return list[0].Meta.AggregateID
}

// TestDecode_AnOldEventIsGivenItsAggregate reads every type without the field, in the first and in the third period of
// its stream.
func TestDecode_AnOldEventIsGivenItsAggregate(t *testing.T) {
	t.Parallel()
	periods := 0
	for _, name := range Types() {
		field := ownID(standard.types[name])
		if field == "" {
			stream := uuid.New()
			if got := aggregateRead(t, old(t, name, stream)); got.UUID() != stream {
				t.Errorf("%s: of %s, want its stream's id %s", name, got, stream)
			}
			continue
		}
		payload, _ := decodeTree(t, old(t, name, uuid.Nil).Data).(map[string]any)
		text, _ := payload[field].(string)
		own, err := uuid.Parse(text)
		if err != nil {
			t.Fatalf("%s has no %s: %v", name, field, err)
		}
		for _, stream := range []uuid.UUID{own, uuid.NewSHA1(own, []byte("2"))} {
			if got := aggregateRead(t, old(t, name, stream)); got.UUID() != own {
				t.Errorf("%s in stream %s: of %s, want %s", name, stream, got, own)
			}
		}
		if strings.Contains(name, "PeriodClosed.") {
			periods++
		}
	}
	if periods != len(ownIDs) {
		t.Errorf("%d aggregates with closing events, want %d", periods, len(ownIDs))
	}
}

func TestDecode_WhatNothingTellsStaysOpen(t *testing.T) {
	t.Parallel()
	r := old(t, events.DeviceUnreachable{}.EventType(), uuid.New())
	r.Data = []byte(`{"error":"no answer"}`)
	if got := aggregateRead(t, r); !got.IsZero() {
		t.Errorf("an event without its own id is taken to be of %s: perhaps a period", got)
	}
	r = old(t, events.PlanArchived{}.EventType(), uuid.New())
	r.Stream = "plan-first"
	if got := aggregateRead(t, r); !got.IsZero() {
		t.Errorf("of %s", got)
	}
}

func TestCodec_CarriesTheAggregate(t *testing.T) {
	t.Parallel()
	codec, own := New(goldenKeys{}), id.New[id.Any]()
	stored := mustEncode(t, codec, Draft{
		Event: events.DeviceRecovered{DeviceID: id.New[id.Device]()},
		Meta:  events.Metadata{EventID: id.New[id.Event](), AggregateID: own},
	})
	meta, _ := decodeTree(t, stored.Metadata).(map[string]any)
	if meta["aggregateId"] != own.String() {
		t.Errorf("written as %v", meta["aggregateId"])
	}
	r := Recorded{Encoded: stored, Stream: "device-" + id.New[id.Device]().String()}
	if got := aggregateRead(t, r); got != own {
		t.Errorf("read as %s, want %s: what is recorded is the truth", got, own)
	}
}
