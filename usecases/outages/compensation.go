package outagescases

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Compensations previews and gives compensations. All fields are required. Safe for concurrent use.
type Compensations struct {
	Bus     *bus.Bus
	Places  Places
	Limiter vault.Limiter // counts previews
	Clock   clock.Clock
	Logger  *slog.Logger // is told of subscriptions at which the program failed
}

// PreviewInput says for which place and time something is given. With an outage, its place is taken, and its time where
// none is given.
type PreviewInput struct {
	Place    events.NetworkPlace
	OutageID id.Outage
	From, To time.Time
	Give     GiveInput
	Reason   string
}

// GiveInput has exactly one field that is set.
type GiveInput struct {
	Days         int
	Money        *usecases.Figure
	Proportional bool
}

// previewsPerHour bounds the previews of one organization: each writes down thousands of subscriptions, for ever.
const previewsPerHour = 30

// mayPreview counts a preview. Fails: rate_limited.
func (u Compensations) mayPreview(ctx context.Context, org id.Organization) error {
	ok, wait, err := u.Limiter.Allow(ctx, "compensation:"+org.String(), previewsPerHour, time.Hour)
	if err == nil && !ok {
		err = failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	return err
}

// Preview records what each subscription of a place would get. Fails: invalid_input, outage_not_found,
// device_not_found, service_not_found, rate_limited, compensation_not_over, compensation_empty, compensation_too_large.
func (u Compensations) Preview(
	ctx context.Context, asked usecases.Asked, in PreviewInput,
) (id.Compensation, bus.Result, error) {
	compensation := usecases.NewID[id.Compensation](asked, "compensation")
	command := commands.PreviewCompensation{
		CompensationID: compensation, OrgID: asked.Org(), Place: in.Place, OutageID: in.OutageID, From: in.From,
		To: in.To, Reason: strings.TrimSpace(in.Reason),
	}
	where, at, err := u.aim(ctx, asked.Org(), &command)
	if err != nil {
		return compensation, bus.Result{}, err
	}
	if command.Give, err = u.give(ctx, asked.Org(), in.Give); err != nil {
		return compensation, bus.Result{}, err
	}
	if err := command.Validate(); err != nil {
		return compensation, bus.Result{}, err
	}
	if where.tag == "" && where.devices == nil {
		if where, err = u.Places.Find(ctx, asked.Org(), command.Place); err != nil {
			return compensation, bus.Result{}, err
		}
		at = where.during(events.TimeSpan{From: command.From, To: command.To})
	}
	if err := u.mayPreview(ctx, asked.Org()); err != nil {
		return compensation, bus.Result{}, err
	}
	at = at.Within(events.TimeSpan{From: command.From, To: command.To})
	of, err := u.Places.Subscriptions(ctx, asked.Org(), where, at, commands.MaxCompensated)
	if err != nil {
		return compensation, bus.Result{}, err
	}
	if len(of) > commands.MaxCompensated {
		return compensation, bus.Result{}, failure.NewConflict("compensation_too_large",
			"One compensation has at most %d subscriptions. Choose a smaller place.", commands.MaxCompensated)
	}
	if command.Items, err = u.items(ctx, command, unaskedOf(command, of)); err != nil {
		return compensation, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, command, u.meta(asked, compensation))
	return compensation, done, err
}

// meta correlates what a compensation does by its id, so that all of it can be found.
func (u Compensations) meta(asked usecases.Asked, compensation id.Compensation) commands.Meta {
	meta := asked.Meta
	meta.CorrelationID = compensation.String()
	return meta
}

// unaskedOf are the items of subscriptions before they are asked, each with its own time.
func unaskedOf(c commands.PreviewCompensation, of []Hit) []events.CompensationItem {
	list := make([]events.CompensationItem, len(of))
	for i, hit := range of {
		list[i] = events.CompensationItem{SubscriptionID: hit.SubscriptionID, SubscriberID: hit.SubscriberID}
		if !hit.At.From.Equal(c.From) || !hit.At.To.Equal(c.To) {
			list[i].From, list[i].To = hit.At.From.UTC(), hit.At.To.UTC()
		}
	}
	return list
}

// aim takes place and time of the outage, if one is named, with the times of its routers. A part that was compensated
// by itself would leave nothing for the rest of the time, so the whole is taken.
func (u Compensations) aim(
	ctx context.Context, org id.Organization, c *commands.PreviewCompensation,
) (where Where, at events.RouterDowns, err error) {
	c.Place.Tag = strings.TrimSpace(c.Place.Tag)
	if c.OutageID.IsZero() {
		return Where{}, nil, nil
	}
	if c.Place != (events.NetworkPlace{}) {
		return Where{}, nil, failure.NewInvalid("invalid_input", "outageId names the place already.")
	}
	outage, err := usecases.WholeOutage(ctx, u.Bus, org, c.OutageID)
	if err != nil {
		return Where{}, nil, err
	}
	c.OutageID, c.Place = outage.ID, outage.Place
	whole := events.TimeSpan{From: outage.StartedAt, To: outage.EndedAt}
	if c.To.IsZero() {
		c.To = outage.EndedAt
	}
	if c.To.IsZero() {
		return Where{}, nil, commands.ErrCompensationNotOver()
	}
	if outage.Lasts() {
		whole.To = c.To
	}
	at = outage.Downs.Until(outage.Devices, whole)
	if c.From.IsZero() {
		c.From = outage.StartedAt
		for _, d := range at { // a router of an outage that became a part of this one may have been down before
			if d.From.Before(c.From) {
				c.From = d.From
			}
		}
	}
	where = Where{devices: outage.Devices, whole: at, cut: cutBefore}
	if outage.Detected {
		where.cut = 0
	}
	return where, at, nil
}

// give reads the amount in the organization's currency.
func (u Compensations) give(
	ctx context.Context, org id.Organization, in GiveInput,
) (events.CompensationGive, error) {
	give := events.CompensationGive{Days: in.Days, Proportional: in.Proportional}
	if in.Money == nil {
		return give, nil
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return give, err
	}
	var f failure.Faults
	give.Money = in.Money.In(settings.Currency, "give", &f)
	f.Check(give.Money.Positive(), "give", "must have money above zero")
	return give, f.Err()
}

// Subscriptions that are worked at the same time.
const (
	readers = 8  // of a preview
	givers  = 16 // of a part
)

// items asks each subscription what it would get.
func (u Compensations) items(
	ctx context.Context, c commands.PreviewCompensation, list []events.CompensationItem,
) ([]events.CompensationItem, error) {
	ids := make([]id.Subscription, len(list))
	for i, item := range list {
		ids[i] = item.SubscriptionID
	}
	items := usecases.Items{Logger: u.Logger, Batch: c.CompensationID, Crew: readers}
	codes, err := usecases.EachItem(ctx, items, ids, func(i int) error {
		item, err := u.item(ctx, c, list[i])
		if err == nil {
			list[i] = item
		}
		return err
	})
	for i, code := range codes {
		if code != "" {
			list[i].Code = code
		}
	}
	return list, err
}

// item asks one subscription.
func (u Compensations) item(
	ctx context.Context, c commands.PreviewCompensation, item events.CompensationItem,
) (events.CompensationItem, error) {
	state, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, c.OrgID, item.SubscriptionID)
	if err != nil {
		return item, err
	}
	given, err := state.Compensation(command(c, item), u.Clock.Now())
	if err != nil {
		return item, err
	}
	item.SubscriberID, item.Days = state.SubscriberID, given.Days
	if len(given.Credits) == 0 {
		return item, nil
	}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, u.Bus, state.SubscriberID) // of the subscription above
	if err != nil {
		return item, err
	}
	if account.Closed { // there is no one whose credit it would be
		return item, commands.ErrAccountClosed()
	}
	item.Amount = money.Of(0, state.Terms.Price.Currency)
	for _, credit := range given.Credits {
		if share := account.Share(credit); share.Positive() {
			item.Amount = item.Amount.Add(share)
		}
	}
	if !item.Amount.Positive() {
		item.Amount, item.Code = money.Amount{}, failure.CodeOf(commands.ErrNothingToCompensate())
	}
	return item, nil
}

// command tells one subscription to take its part, for its own time where it has one.
func command(c commands.PreviewCompensation, of events.CompensationItem) commands.CompensateSubscription {
	give := commands.CompensateSubscription{
		SubscriptionID: of.SubscriptionID, CompensationID: c.CompensationID, From: c.From, To: c.To, Give: c.Give,
	}
	if !of.From.IsZero() {
		give.From, give.To = of.From, of.To
	}
	return give
}

// unasked is the item of a subscription without what it would get.
func unasked(of events.CompensationItem) events.CompensationItem {
	return events.CompensationItem{
		SubscriptionID: of.SubscriptionID, SubscriberID: of.SubscriberID, From: of.From, To: of.To,
	}
}

// asPreviewed is the question of which a compensation was the answer.
func asPreviewed(state outages.Compensation) commands.PreviewCompensation {
	return commands.PreviewCompensation{
		CompensationID: state.ID, OrgID: state.Org, From: state.From, To: state.To, Give: state.Give,
	}
}

// Apply has a previewed compensation given, if it still gives what the preview says. More money than one person may
// give away waits for a second one. Fails: compensation_not_found, preview_stale, stale_revision.
func (u Compensations) Apply(
	ctx context.Context, asked usecases.Asked, compensation id.Compensation,
) (bus.Result, error) {
	state, _, err := bus.LoadOwned[outages.Compensation](ctx, u.Bus, asked.Org(), compensation)
	if err != nil {
		return bus.Result{}, err
	}
	if err := u.stillSo(ctx, state); err != nil {
		return bus.Result{}, err
	}
	return u.apply(ctx, asked, state)
}

// apply has a compensation given, alone or as two have decided.
func (u Compensations) apply(
	ctx context.Context, asked usecases.Asked, state outages.Compensation,
) (done bus.Result, err error) {
	command := commands.ApplyCompensation{CompensationID: state.ID}
	act := usecases.Act{
		Kind: events.ActCompensation, Amount: state.Sum(), Reason: state.Reason,
		What: events.ApprovalAct{CompensationID: state.ID}, Command: command,
	}
	err = usecases.Alone(ctx, u.Bus, asked, act, func() (err error) {
		done, err = u.Bus.Execute(ctx, command, u.meta(asked, state.ID))
		return err
	})
	return done, err
}

// stillSo asks each subscription again: between preview and apply, days can have become money, of which nobody has seen
// the sum. Who gets nothing any more, or less, is no obstacle. Fails: preview_stale.
func (u Compensations) stillSo(ctx context.Context, state outages.Compensation) error {
	if state.Applied {
		return nil
	}
	var before, of []events.CompensationItem
	for _, part := range state.Parts {
		for _, item := range part {
			if item.Code == "" {
				before = append(before, item)
				of = append(of, unasked(item))
			}
		}
	}
	now, err := u.items(ctx, asPreviewed(state), of)
	if err != nil {
		return err
	}
	var more int64
	for i, item := range now {
		if kind := commands.GiftOf(item); kind != "" && kind != commands.GiftOf(before[i]) {
			return commands.ErrPreviewStale()
		}
		more += item.Amount.Minor - before[i].Amount.Minor
	}
	if more > 0 {
		return commands.ErrPreviewStale()
	}
	return nil
}

// Granted gives a compensation as a second person has granted it. What has changed for somebody while it waited is no
// obstacle for the others: giveOne gives nobody more than the two have seen.
func (u Compensations) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	state, _, err := bus.LoadOwned[outages.Compensation](ctx, u.Bus, asked.Org(), of.What.CompensationID)
	if err != nil {
		return err
	}
	_, err = u.apply(ctx, asked, state)
	return err
}

// GivePart gives one part, each subscription once, however often it runs. meta makes the metadata of the report. A
// subscription at which the program fails gets nothing and is reported; another compensation for the same time gives
// it what it did not get.
func (u Compensations) GivePart(
	ctx context.Context, args commands.GiveCompensationPart, meta commands.Meta,
) error {
	state, _, err := bus.LoadOwned[outages.Compensation](ctx, u.Bus, args.OrgID, args.CompensationID)
	if err != nil {
		return err
	}
	if !state.Applied || args.Part >= len(state.Parts) || state.Done[args.Part] {
		return nil
	}
	meta.CorrelationID = state.ID.String()
	report := commands.FinishCompensationPart{CompensationID: state.ID, Part: args.Part}
	refuse := func(of id.Subscription, code string) {
		report.Refused = append(report.Refused, events.CompensationRefusal{SubscriptionID: of, Code: code})
	}
	var list []id.Subscription
	var previewed []events.CompensationItem
	for _, item := range state.Parts[args.Part] {
		if item.Code != "" {
			refuse(item.SubscriptionID, item.Code)
			continue
		}
		list, previewed = append(list, item.SubscriptionID), append(previewed, item)
	}
	items := usecases.Items{Logger: u.Logger, Batch: state.ID, Crew: givers}
	codes, err := usecases.EachItem(ctx, items, list, func(i int) error {
		return u.giveOne(ctx, asPreviewed(state), previewed[i], meta)
	})
	if err != nil {
		return err
	}
	for i, code := range codes {
		if code != "" {
			refuse(list[i], code)
			continue
		}
		report.Given++
	}
	_, err = u.Bus.Execute(ctx, report, meta)
	return err
}

// giveOne gives one subscription what its item says. What would be something else by now, or more money, is not given:
// whoever applied the compensation has not seen it. A repeat finds it given. Fails: as CompensateSubscription.
func (u Compensations) giveOne(
	ctx context.Context, c commands.PreviewCompensation, previewed events.CompensationItem, meta commands.Meta,
) error {
	if previewed.Amount.Positive() {
		now, err := u.item(ctx, c, unasked(previewed))
		switch {
		case err != nil:
			return err
		case now.Code != "":
			return commands.ErrNothingToCompensate()
		case now.Amount.Minor > previewed.Amount.Minor:
			return commands.ErrCompensationChanged()
		}
	}
	meta.CommandID = id.Derive[id.Command]("compensation", c.CompensationID.String(), previewed.SubscriptionID.String())
	give := command(c, previewed)
	give.Only = commands.GiftOf(previewed)
	_, err := u.Bus.Execute(ctx, give, meta)
	return err
}
