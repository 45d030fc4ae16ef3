package subscriptions_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/subscriptions"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// patience bounds every wait of these tests.
const patience = 15 * time.Second

// fill appends n events with reasons first, first+1 … to a stream of its own.
func fill(t *testing.T, store *eventstore.Store, first, n int) eventstore.Appended {
	t.Helper()
	list := make([]eventstore.New, n)
	for i := range list {
		list[i] = eventstore.New{
			Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: fmt.Sprint(first + i)},
			Meta:  events.Metadata{EventID: id.New[id.Event]()},
		}
	}
	done, err := store.Append(t.Context(), "plan-"+id.New[id.Plan]().String(), eventstore.NoStream, list)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// subscriber makes one over a topic.
func subscriber(t *testing.T, store *eventstore.Store, topic subscriptions.Topic) *subscriptions.Subscriber {
	t.Helper()
	s := subscriptions.New(subscriptions.Config{
		Store: store, Topics: map[string]subscriptions.Topic{"all": topic}, Logger: storetest.Quiet(), RetryPause: time.Millisecond,
	})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// subscribe begins.
func subscribe(t *testing.T, s *subscriptions.Subscriber) <-chan *message.Message {
	t.Helper()
	messages, err := s.Subscribe(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// take waits for a message.
func take(t *testing.T, messages <-chan *message.Message) *message.Message {
	t.Helper()
	select {
	case msg, ok := <-messages:
		if !ok {
			t.Fatal("subscription ended")
		}
		return msg
	case <-time.After(patience):
		t.Fatal("no message")
	}
	return nil
}

// reason is what tells the events apart.
func reason(t *testing.T, msg *message.Message) string {
	t.Helper()
	e, err := subscriptions.Envelope(msg)
	if err != nil {
		t.Fatal(err)
	}
	if msg.UUID != e.ID.String() || msg.Metadata.Get(subscriptions.KeyType) != e.Type || msg.Metadata.Get(subscriptions.KeyPosition) != fmt.Sprint(e.Position) {
		t.Errorf("message %s %v about %+v", msg.UUID, msg.Metadata, e)
	}
	return e.Event.(events.PlanArchived).Reason
}

func TestSubscriber_GivesTheNextEventAfterTheAcknowledgement(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	fill(t, store, 0, 3)
	messages := subscribe(t, subscriber(t, store, subscriptions.Topic{}))
	first := take(t, messages)
	select {
	case msg := <-messages:
		t.Fatalf("a second message without acknowledgement: %v", msg.Metadata)
	default:
	}
	first.Nack()
	again := take(t, messages)
	if reason(t, first) != "0" || reason(t, again) != "0" {
		t.Errorf("refused %s, then %s", reason(t, first), reason(t, again))
	}
	again.Ack()
	for _, want := range []string{"1", "2"} {
		msg := take(t, messages)
		if got := reason(t, msg); got != want {
			t.Errorf("have %s, want %s", got, want)
		}
		msg.Ack()
	}
}

func TestSubscriber_StartsAfterTheCheckpointAndSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	before := fill(t, store, 0, 2)
	passed := make(chan uint64, 1000)
	messages := subscribe(t, subscriber(t, store, subscriptions.Topic{
		Types:  []string{events.PlanArchived{}.EventType()},
		After:  func(context.Context) (uint64, error) { return before.Position, nil },
		Passed: func(position uint64, _ bool) { passed <- position },
	}))
	fill(t, store, 2, 1)
	msg := take(t, messages)
	if got := reason(t, msg); got != "2" {
		t.Errorf("first event is %s", got)
	}
	msg.Ack()
	other, err := store.Append(t.Context(), "claim-"+id.New[id.Any]().String(), eventstore.NoStream, []eventstore.New{{
		Event: events.ClaimReleased{Kind: "k", Owner: id.New[id.Any]()}, Meta: events.Metadata{EventID: id.New[id.Event]()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(patience)
	for position := uint64(0); position < other.Position; {
		select {
		case position = <-passed:
		case <-deadline:
			t.Fatal("the position of an unwanted event is not told")
		}
	}
}

func TestSubscriber_APoisonEventIsSeenAndNeverPassed(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	config, err := esdb.ParseConnectionString(kit.Node.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = client.AppendToStream(t.Context(), "x-1", esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}},
		esdb.EventData{EventType: "nobody.Knows.v1", ContentType: esdb.ContentTypeJson, Data: []byte("{}"), Metadata: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, kit.Store, 0, 1)
	messages := subscribe(t, subscriber(t, kit.Store, subscriptions.Topic{}))
	for range 2 {
		msg := take(t, messages)
		_, err := subscriptions.Envelope(msg)
		var poison *catalog.UndecodableError
		if !errors.As(err, &poison) || msg.Metadata.Get(subscriptions.KeyStream) != "x-1" {
			t.Fatalf("message %v, %v", msg.Metadata, err)
		}
		msg.Nack()
	}
	take(t, messages).Ack()
	select {
	case msg, ok := <-messages:
		if ok {
			t.Fatalf("a message behind the poison: %v", msg.Metadata)
		}
	case <-time.After(patience):
		t.Fatal("the subscription goes on")
	}
}

func TestSubscriber_EndsWithContextAndClose(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	s := subscriber(t, store, subscriptions.Topic{})
	ctx, cancel := context.WithCancel(t.Context())
	byContext, err := s.Subscribe(ctx, "all")
	if err != nil {
		t.Fatal(err)
	}
	byClose := subscribe(t, s)
	cancel()
	if msg, ok := <-byContext; ok {
		t.Errorf("message %v", msg.Metadata)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if msg, ok := <-byClose; ok {
		t.Errorf("message %v", msg.Metadata)
	}
	if _, err := s.Subscribe(t.Context(), "all"); !errors.Is(err, subscriptions.ErrClosed) {
		t.Errorf("subscribe after close: %v", err)
	}
	if _, err := subscriber(t, store, subscriptions.Topic{}).Subscribe(t.Context(), "nothing"); err == nil {
		t.Error("subscribed to an unknown topic")
	}
}

func TestSubscriber_FeedsAWatermillRouter(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Store
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		t.Fatal(err)
	}
	got, failed := make(chan string, 100), false
	router.AddConsumerHandler("count", "all", subscriber(t, store, subscriptions.Topic{}), func(msg *message.Message) error {
		e, err := subscriptions.Envelope(msg)
		if err != nil {
			return err
		}
		if r := e.Event.(events.PlanArchived).Reason; r != "3" || failed {
			got <- r
			return nil
		}
		failed = true
		return errors.New("the first try fails")
	})
	ended := make(chan error, 1)
	go func() { ended <- router.Run(t.Context()) }()
	fill(t, store, 0, 6)
	var list []string
	for range 6 {
		select {
		case r := <-got:
			list = append(list, r)
		case <-time.After(patience):
			t.Fatalf("only %v arrived", list)
		}
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5"}, list); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
	if err := router.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
