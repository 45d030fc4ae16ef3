package subscriberscases_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

func TestCreatePlan_IsInTheOrganizationsCurrency(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := home("home-10")
	in.Currency = money.KES
	asked := coretest.Keyed(k.acme)
	plan, _, err := k.plans.Create(t.Context(), asked, in)
	if err != nil {
		t.Fatal(err)
	}
	want := events.PlanTerms{
		Name: "Home 10", Kind: "pppoe", Price: money.Of(150050, money.KES), Mode: events.Prepaid,
		Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
	if diff := cmp.Diff(want, load[subscribers.Plan](t, k, plan).Terms); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	again, done, err := k.plans.Create(t.Context(), asked, in)
	if err != nil || again != plan || done.Changed {
		t.Errorf("a repeat made %v, %+v, %v", again, done, err)
	}
	_, _, err = k.plans.Create(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "the same code", err, "plan_code_taken")
	if _, _, err = k.plans.Create(t.Context(), coretest.Ask(k.other), in); err != nil {
		t.Errorf("the same code in another organization: %v", err)
	}
}

func TestCreatePlan_TellsAllFaultsOnceAndMakesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := home("no spaces")
	in.Price, in.Currency, in.Kind = "1.005", money.Currency("USD"), "fibre"
	in.Invalid = failure.NewInvalid("invalid_input", "kind must be one of pppoe, hotspot", "rates must be an object")
	_, _, err := k.plans.Create(t.Context(), coretest.Ask(k.acme), in)
	coretest.Faulty(t, "everything", err, "code", "price", "currency", "kind", "rates")
	if told := coretest.FaultsOf(err); len(told) != len(slices.Compact(slices.Sorted(slices.Values(told)))) {
		t.Errorf("a field is told twice: %v", err)
	}
	in = home("home-10")
	in.Invalid = failure.NewInvalid("invalid_input", "colour is not a known field")
	_, _, err = k.plans.Create(t.Context(), coretest.Ask(k.acme), in)
	coretest.Faulty(t, "found by the caller", err, "colour")
	if _, _, err := k.plans.Create(t.Context(), coretest.Ask(k.acme), home("home-10")); err != nil {
		t.Errorf("the refused plan took the code: %v", err)
	}
	_, _, err = k.plans.Create(t.Context(), coretest.Ask(id.New[id.Organization]()), home("x"))
	coretest.Refused(t, "unknown organization", err, "organization_not_found")
}

func TestRevisePlan_MakesAVersionOfWhatIsGiven(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	plan := k.plan(t, "home-10")
	asked := coretest.Keyed(k.acme)
	in := subscriberscases.RevisePlanInput{
		PlanID: plan, Name: new(" Home 20 "), Price: new(usecases.Figure("1800")), Mode: new(events.Postpaid),
		Period: new(calendar.Week), Kind: new("hotspot"), Rates: &events.Rates{Down: 20_000, Up: 10_000},
	}
	if _, err := k.plans.Revise(t.Context(), asked, in); err != nil {
		t.Fatal(err)
	}
	want := events.PlanTerms{
		Name: "Home 20", Kind: "hotspot", Price: money.Major(1800, money.KES), Mode: events.Postpaid,
		Period: calendar.Week, Rates: events.Rates{Down: 20_000, Up: 10_000},
	}
	if diff := cmp.Diff(want, load[subscribers.Plan](t, k, plan).Terms); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	for name, a := range map[string]usecases.Asked{"a repeat": asked, "the same terms again": coretest.Ask(k.acme)} {
		if done, err := k.plans.Revise(t.Context(), a, in); err != nil || done.Changed {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if v := load[subscribers.Plan](t, k, plan).Version; v != 2 {
		t.Errorf("version %d", v)
	}
}

func TestRevisePlan_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	plan := k.plan(t, "home-10")
	in := subscriberscases.RevisePlanInput{PlanID: plan, Price: new(usecases.Figure("1.005"))}
	_, err := k.plans.Revise(t.Context(), coretest.Ask(k.acme), in)
	coretest.Faulty(t, "decimals", err, "price")
	in.Price = new(usecases.Figure("-1"))
	_, err = k.plans.Revise(t.Context(), coretest.Ask(k.acme), in)
	coretest.Faulty(t, "negative", err, "price")
	in.Price = new(usecases.Figure("1"))
	_, err = k.plans.Revise(t.Context(), coretest.Ask(k.other), in)
	coretest.Refused(t, "another organization", err, "plan_not_found")
	k.Run(t, coretest.Ask(k.acme).Meta, commands.ArchivePlan{PlanID: plan})
	_, err = k.plans.Revise(t.Context(), coretest.Ask(k.acme), in)
	coretest.Refused(t, "archived", err, "plan_archived")
}

func TestRevisePlan_TwoAtOnceBothCount(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	plan := k.plan(t, "home-10")
	inputs := []subscriberscases.RevisePlanInput{
		{PlanID: plan, Name: new("Home 20")}, {PlanID: plan, Price: new(usecases.Figure("1800"))},
	}
	for _, err := range coretest.AtOnce(len(inputs), func(n int) error {
		_, err := k.plans.Revise(t.Context(), coretest.Ask(k.acme), inputs[n])
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if p := load[subscribers.Plan](t, k,
		plan); p.Terms.Name != "Home 20" || p.Terms.Price != money.Major(1800, money.KES) ||
		p.Version != 3 {
		t.Errorf("one of two changes is lost: %+v", p)
	}
}
