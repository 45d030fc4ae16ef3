package subscriberscases_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// text makes a field of a correction.
func text(s string) *personal.Text {
	t := personal.Of(s)
	return &t
}

func TestRegister_BringsDetailsIntoOneFormUnderANumber(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := load[subscribers.Subscriber](t, k, k.register(t))
	want := events.SubscriberDetails{
		FirstName: personal.Of("Amina"), LastName: personal.Of("Otieno"), Phone: personal.Of("+254712345678"),
		Email: personal.Of("amina@mail.test"), Address: personal.Of("Plot 4 "),
		Tags:     personal.OfAll([]string{"vip", "estate 4"}),
		Location: (&events.Location{Latitude: -1.28, Longitude: 36.82}).Text(), ExternalRef: personal.Of("A-1"),
		TaxPIN: personal.Of("A012345678Z"),
	}
	if diff := cmp.Diff(want, s.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if !commands.ValidAccountNumber(s.AccountNumber) || s.AccountNumber[0] == '0' || s.Currency != money.KES {
		t.Errorf("number %s, currency %s", s.AccountNumber, s.Currency)
	}
}

// numbers draws account numbers in the given order, the last one again and again, and counts the draws.
func numbers(count *int, seven ...int) func() (string, error) {
	return func() (string, error) {
		n := seven[min(*count, len(seven)-1)]
		*count++
		return commands.AccountNumber(n), nil
	}
}

func TestRegister_TakesTheNextNumberWhenSomebodyHasIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	drawn := 0
	k.subscribers.DrawNumber = numbers(&drawn, 1_000_001)
	k.register(t)
	drawn = 0
	k.subscribers.DrawNumber = numbers(&drawn, 1_000_001, 1_000_001, 1_000_002)
	// a number is unique on the platform: a subscriber of another organization does not get it either
	subscriber, _, err := k.subscribers.Register(t.Context(), coretest.Ask(k.other), amina())
	if err != nil || drawn != 3 {
		t.Fatalf("%v after %d numbers", err, drawn)
	}
	_, err = k.subscribers.Correct(t.Context(), coretest.Ask(k.other),
		subscriberscases.CorrectInput{SubscriberID: subscriber, LastName: text("Wanjiru")})
	if err != nil {
		t.Errorf("the customer is not of the other organization: %v", err)
	}
	drawn = 0
	k.subscribers.DrawNumber = numbers(&drawn, 1_000_001)
	_, _, err = k.subscribers.Register(t.Context(), coretest.Ask(k.acme), amina())
	coretest.Refused(t, "no number is free", err, "account_number_taken")
	if drawn != 10 {
		t.Errorf("gave up after %d numbers", drawn)
	}
	broken := errors.New("no randomness")
	k.subscribers.DrawNumber = func() (string, error) { return "", broken }
	if _, _, err = k.subscribers.Register(t.Context(), coretest.Ask(k.acme), amina()); !errors.Is(err, broken) {
		t.Errorf("without a number: %v", err)
	}
}

func TestRegister_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, _, err := k.subscribers.Register(t.Context(), coretest.Ask(id.New[id.Organization]()), amina())
	coretest.Refused(t, "unknown organization", err, "organization_not_found")
	bad := amina()
	bad.FirstName, bad.Phone, bad.Tags = personal.Of(" "), personal.Of("12"), personal.OfAll([]string{"<b>"})
	_, _, err = k.subscribers.Register(t.Context(), coretest.Ask(k.acme), bad)
	coretest.Faulty(t, "bad details", err, "firstName", "phone", "tags")
}

func TestRegister_ARepeatAndTwoAtOnceMakeOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.acme)
	made := make([]id.Subscriber, 3)
	for _, err := range coretest.AtOnce(len(made), func(n int) (err error) {
		made[n], _, err = k.subscribers.Register(t.Context(), asked, amina())
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	number := load[subscribers.Subscriber](t, k, made[0]).AccountNumber
	again, done, err := k.subscribers.Register(t.Context(), asked, amina())
	if err != nil || again != made[0] || made[1] != made[0] || made[2] != made[0] || done.Changed ||
		done.Position == 0 {
		t.Errorf("made %v, then %v, %+v, %v", made, again, done, err)
	}
	if now := load[subscribers.Subscriber](t, k, made[0]).AccountNumber; now != number {
		t.Errorf("the number %s became %s", number, now)
	}
	other, _, err := k.subscribers.Register(t.Context(), coretest.Ask(k.acme), amina())
	if err != nil || other == made[0] {
		t.Errorf("another request got %v, %v", other, err)
	}
}

func TestCorrect_ChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	who := k.register(t)
	in := subscriberscases.CorrectInput{
		SubscriberID: who, Phone: text("0722000000"), Email: text(""), NoLocation: true,
		Tags: new(personal.OfAll([]string{" new "})), ExternalRef: text(""), TaxPIN: text(" P051 "),
	}
	asked := coretest.Keyed(k.acme)
	first, err := k.subscribers.Correct(t.Context(), asked, in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := k.subscribers.Correct(t.Context(), asked, in)
	if err != nil || again.Changed || again.Revision != first.Revision {
		t.Errorf("a repeat gave %+v after %+v, %v", again, first, err)
	}
	want := events.SubscriberDetails{
		FirstName: personal.Of("Amina"), LastName: personal.Of("Otieno"), Phone: personal.Of("+254722000000"),
		Address: personal.Of("Plot 4 "), Tags: personal.OfAll([]string{"new"}), TaxPIN: personal.Of("P051"),
	}
	if diff := cmp.Diff(want, load[subscribers.Subscriber](t, k, who).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	place := events.Location{Latitude: 1, Longitude: 2}
	if _, err := k.subscribers.Correct(t.Context(), coretest.Ask(k.acme),
		subscriberscases.CorrectInput{SubscriberID: who, Location: &place}); err != nil {
		t.Fatal(err)
	}
	if got := load[subscribers.Subscriber](t, k, who).Details.Place(); got == nil || *got != place {
		t.Errorf("place %v", got)
	}
}

func TestCorrect_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	who := k.register(t)
	in := subscriberscases.CorrectInput{SubscriberID: who, FirstName: text("")}
	_, err := k.subscribers.Correct(t.Context(), coretest.Ask(k.acme), in)
	coretest.Faulty(t, "a required field is emptied", err, "firstName")
	_, err = k.subscribers.Correct(t.Context(), coretest.Ask(k.other), in)
	coretest.Refused(t, "another organization", err, "subscriber_not_found")
	in.SubscriberID = id.New[id.Subscriber]()
	_, err = k.subscribers.Correct(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "nobody", err, "subscriber_not_found")
	stale := coretest.Ask(k.acme)
	stale.Meta.ExpectedRevision = new(uint64(7))
	_, err = k.subscribers.Correct(t.Context(), stale,
		subscriberscases.CorrectInput{SubscriberID: who, LastName: text("X")})
	coretest.Refused(t, "If-Match", err, "stale_revision")
}

func TestCorrect_TwoAtOnceBothCount(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	who := k.register(t)
	inputs := []subscriberscases.CorrectInput{
		{SubscriberID: who, FirstName: text("Aisha")}, {SubscriberID: who, LastName: text("Mwangi")},
	}
	for _, err := range coretest.AtOnce(len(inputs), func(n int) error {
		_, err := k.subscribers.Correct(t.Context(), coretest.Ask(k.acme), inputs[n])
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := load[subscribers.Subscriber](t, k, who).Details; d.FirstName.Reveal() != "Aisha" ||
		d.LastName.Reveal() != "Mwangi" {
		t.Error("one of two corrections is lost")
	}
}

// TestChoose_IsBoundedForADay: what a customer chooses stays in the log for good. Staff are not concerned.
func TestChoose_IsBoundedForADay(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CorrectInput{SubscriberID: k.register(t)}
	wish := func(n int) error {
		in.OnlyNeeded = new(n%2 == 0)
		_, err := k.subscribers.Choose(t.Context(), coretest.Ask(k.acme), in)
		return err
	}
	for n := range 20 {
		if err := wish(n); err != nil {
			t.Fatalf("choice %d: %v", n, err)
		}
	}
	coretest.Refused(t, "one choice more", wish(20), "rate_limited")
	if load[subscribers.Subscriber](t, k, in.SubscriberID).Details.OnlyNeeded {
		t.Error("it was made all the same")
	}
	in.OnlyNeeded = new(true)
	if _, err := k.subscribers.Correct(t.Context(), coretest.Ask(k.acme), in); err != nil {
		t.Errorf("staff: %v", err)
	}
	k.clock.Advance(48 * time.Hour)
	if err := wish(1); err != nil {
		t.Errorf("two days later: %v", err)
	}
}
