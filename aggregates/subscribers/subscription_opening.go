package subscribers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Forms of openings. Openings of the first form have no number.
const (
	openingForm     = 5
	openingTimeless = 2 // the last form that does not keep the time of day of anniversaries
	openingUnkeyed  = 3 // the last form without the password's reference: it was still the first
	openingUntaken  = 4 // the last form in which periods do not tell that they retake a place
)

// subscriptionOpening is the JSON form of Subscription that a closed stream period passes to the next. It is durable:
// names never change, and the zero value of a new field must be harmless. Username and addresses travel outside,
// sealed.
type subscriptionOpening struct {
	Form          int               `json:"form"`
	ID            id.Subscription   `json:"subscription"`
	Owner         id.Organization   `json:"org"`
	SubscriberID  id.Subscriber     `json:"subscriber"`
	PlanID        id.Plan           `json:"plan,omitzero"`
	PlanVersion   int               `json:"planVersion"`
	Terms         events.PlanTerms  `json:"terms"`
	Timezone      string            `json:"timezone"`
	StartsAt      time.Time         `json:"startsAt"`
	State         SubscriptionState `json:"state"`
	PausedAt      time.Time         `json:"pausedAt,omitzero"`
	Suspended     openingSuspension `json:"suspended,omitzero"`
	EndedAt       time.Time         `json:"endedAt,omitzero"`
	Base          openingBase       `json:"base,omitzero"`
	Periods       []openingPeriod   `json:"periods,omitempty"`
	Gaps          []openingSpan     `json:"gaps,omitempty"`
	UnservedSince time.Time         `json:"unservedSince,omitzero"`
	Latest        time.Time         `json:"latest,omitzero"`
	Dropped       time.Time         `json:"dropped,omitzero"`
	Undone        id.BillingRun     `json:"undone,omitzero"`
	PasswordRef   id.Secret         `json:"passwordRef,omitzero"`
	FormerRef     id.Secret         `json:"formerRef,omitzero"`

	Planned openingChange   `json:"planned,omitzero"`
	Former  []openingFormer `json:"former,omitempty"` // absent where no change was recorded since it is kept
	Moved   openingMove     `json:"moved,omitzero"`
	Changes int             `json:"changes,omitempty"`
	Extras  events.Extras   `json:"extras,omitempty"` // what they are called travels outside, sealed

	Grants           []openingGrant       `json:"grants,omitempty"`
	Compensated      []openingCompensated `json:"compensated,omitempty"`
	CompensatedUntil time.Time            `json:"compensatedUntil,omitzero"`
}

// openingChange is the durable form of PlannedChange. Names of fields never change.
type openingChange struct {
	PlanID      id.Plan          `json:"plan"`
	Version     int              `json:"version"`
	Terms       events.PlanTerms `json:"terms"`
	FromOrdinal int              `json:"from"`
	MoveID      id.PlanMove      `json:"move,omitzero"`
	EffectiveAt time.Time        `json:"at,omitzero"`
}

// openingFormer is the durable form of Former. Names of fields never change.
type openingFormer struct {
	Terms  events.PlanTerms `json:"terms"`
	Before int              `json:"before"`
}

// openingMove is the durable form of PlanMoved. Names of fields never change.
type openingMove struct {
	MoveID      id.PlanMove      `json:"move"`
	FromOrdinal int              `json:"from,omitempty"`
	PlanID      id.Plan          `json:"plan,omitzero"` // with version and terms, from before the move
	Version     int              `json:"version,omitempty"`
	Terms       events.PlanTerms `json:"terms,omitzero"`
	TakenBack   bool             `json:"takenBack,omitempty"`
}

// openingGrant is the durable form of Grant. Names of fields never change.
type openingGrant struct {
	At   time.Time `json:"at"`
	Days int       `json:"days"`
}

// openingCompensated is the durable form of Compensated. Names of fields never change.
type openingCompensated struct {
	ID        id.Compensation `json:"id"`
	From      time.Time       `json:"from"`
	To        time.Time       `json:"to"`
	At        time.Time       `json:"at,omitzero"`
	GivenAt   time.Time       `json:"givenAt,omitzero"`
	Days      int             `json:"days,omitempty"`
	Invoices  []id.Invoice    `json:"invoices,omitempty"`
	TakenBack bool            `json:"takenBack,omitempty"`
}

// openingBase is the durable form of Base. Names of fields never change.
type openingBase struct {
	Ordinal   int       `json:"ordinal,omitempty"`
	From      time.Time `json:"from,omitzero"`
	End       time.Time `json:"end,omitzero"`
	Anchor    int       `json:"anchor,omitempty"`
	Begun     time.Time `json:"begun,omitzero"`
	PaidUntil time.Time `json:"paidUntil,omitzero"`
}

// openingPeriod is the durable form of Period. Names of fields never change. An absent invoice is the one that the
// ordinal gives, an absent mode or unit that of the subscription's terms, and an absent state means paid.
type openingPeriod struct {
	Ordinal   int                `json:"n"`
	InvoiceID id.Invoice         `json:"invoice,omitzero"`
	Mode      events.BillingMode `json:"mode,omitempty"`
	Unit      calendar.Period    `json:"unit,omitempty"`
	State     PeriodState        `json:"state,omitempty"`
	Begins    time.Time          `json:"begins,omitzero"`
	Anchor    int                `json:"anchor,omitempty"`
	// it does not keep the time of day; so is every one of form 2
	Timeless   bool         `json:"timeless,omitempty"`
	BillingDay int          `json:"billingDay,omitempty"`
	Days       int          `json:"days,omitempty"`
	Of         int          `json:"of,omitempty"`
	Undone     bool         `json:"undone,omitempty"`
	Used       bool         `json:"used,omitempty"`
	Retakes    bool         `json:"retakes,omitempty"`
	Paused     int          `json:"paused,omitempty"`
	Free       int          `json:"free,omitempty"`
	Fixed      openingSpan  `json:"fixed,omitzero"`
	Price      money.Amount `json:"price,omitzero"` // absent = that of the subscription's terms

	Upgrades []openingUpgrade `json:"upgrades,omitempty"`
}

// openingSuspension is the durable form of Suspension. Names of fields never change.
type openingSuspension struct {
	At time.Time               `json:"at"`
	By events.SuspendedBilling `json:"by"`
}

// openingSpan is the durable form of Span. Names of fields never change.
type openingSpan struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// closeMove writes a move.
func closeMove(m PlanMoved) openingMove {
	return openingMove{
		MoveID: m.MoveID, FromOrdinal: m.FromOrdinal, PlanID: m.Before.PlanID, Version: m.Before.Version,
		Terms: m.Before.Terms, TakenBack: m.TakenBack,
	}
}

// open gives the move that was written.
func (m openingMove) open() PlanMoved {
	return PlanMoved{
		MoveID: m.MoveID, FromOrdinal: m.FromOrdinal, TakenBack: m.TakenBack,
		Before: commands.NewPlan{PlanID: m.PlanID, Version: m.Version, Terms: m.Terms},
	}
}

// closeSubscription makes the last event of a full stream period, with the whole state except what compacted drops
// (docs/rules/engine.md#closing-a-period). The username travels outside the JSON, so that the codec seals it.
func closeSubscription(s Subscription) events.SubscriptionEvent {
	s = s.compacted(keptPeriods).keptExtras()
	o := subscriptionOpening{
		Form: openingForm, ID: s.ID, Owner: s.Owner, SubscriberID: s.SubscriberID, PlanID: s.PlanID,
		PlanVersion: s.PlanVersion, Planned: openingChange(s.Planned), Moved: closeMove(s.Moved), Changes: s.Changes,
		Terms: s.Terms, Extras: s.Extras,
		Timezone: s.Timezone, StartsAt: s.StartsAt, State: s.State, PausedAt: s.PausedAt,
		Suspended: openingSuspension(s.Suspended), EndedAt: s.EndedAt,
		Base: openingBase(s.Base), UnservedSince: s.UnservedSince, Latest: s.Latest,
		Dropped: s.Dropped, Undone: s.Undone, PasswordRef: s.PasswordRef, FormerRef: s.FormerRef,
		CompensatedUntil: s.CompensatedUntil,
	}
	for _, f := range s.Former {
		o.Former = append(o.Former, openingFormer(f))
	}
	for _, g := range s.Grants {
		o.Grants = append(o.Grants, openingGrant(g))
	}
	for _, c := range s.Compensated {
		o.Compensated = append(o.Compensated, openingCompensated(c))
	}
	for _, p := range s.Periods {
		o.Periods = append(o.Periods, s.closePeriod(p))
	}
	for _, g := range s.Gaps {
		o.Gaps = append(o.Gaps, openingSpan(g))
	}
	opening, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("subscribers: write opening of subscription %s: %v", s.ID, err)) // no field can fail
	}
	return events.SubscriptionPeriodClosed{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Opening: opening, Username: s.Username,
		StaticIP: s.Addresses.StaticIP, StaticIPv6Prefix: s.Addresses.StaticIPv6Prefix,
		MACAddresses: s.Addresses.MACAddresses, Routes: s.Addresses.Routes, Extras: s.Called,
	}
}

// closePeriod leaves out what the reader finds by itself, since there can be a thousand periods.
func (s Subscription) closePeriod(p Period) openingPeriod {
	o := openingPeriod{
		Ordinal: p.Ordinal, Begins: p.Begins, Anchor: p.Anchor, Timeless: !p.KeepsTime, BillingDay: p.BillingDay,
		Days: p.Days, Of: p.Of, Undone: p.Undone, Used: p.Used, Retakes: p.Retakes, Paused: p.Paused, Free: p.Free,
		Fixed: openingSpan(p.Fixed), Price: p.Price,
	}
	for _, u := range p.Upgrades {
		o.Upgrades = append(o.Upgrades, openingUpgrade(u))
	}
	if p.InvoiceID != s.invoiceOf(p.Ordinal) {
		o.InvoiceID = p.InvoiceID
	}
	if p.Mode != s.Terms.Mode {
		o.Mode = p.Mode
	}
	if p.Unit != s.Terms.Period {
		o.Unit = p.Unit
	}
	if p.State != PeriodPaid {
		o.State = p.State
	}
	return o
}

// reopened decodes the state that a closed stream period passes on. It panics on JSON that closeSubscription never
// wrote, because a subscription with a wrong state must not decide about paid time.
func reopened(e events.SubscriptionPeriodClosed) Subscription {
	var o subscriptionOpening
	if err := json.Unmarshal(e.Opening, &o); err != nil {
		panic(fmt.Sprintf("subscribers: read opening of subscription %s: %v", e.SubscriptionID, err))
	}
	if o.Form == 0 {
		return reopenedFirstForm(e)
	}
	s := Subscription{
		ID: o.ID, Owner: o.Owner, SubscriberID: o.SubscriberID, PlanID: o.PlanID, PlanVersion: o.PlanVersion,
		Terms: o.Terms, Planned: PlannedChange(o.Planned), Moved: o.Moved.open(), Changes: o.Changes,
		Extras: o.Extras, Called: e.Extras,
		Timezone: o.Timezone, StartsAt: o.StartsAt, Username: e.Username, State: o.State, PausedAt: o.PausedAt,
		Suspended: Suspension(o.Suspended), EndedAt: o.EndedAt,
		Base: Base(o.Base), UnservedSince: o.UnservedSince, Latest: o.Latest,
		Dropped: o.Dropped, PasswordRef: o.PasswordRef, FormerRef: o.FormerRef, CompensatedUntil: o.CompensatedUntil,
		Undone: o.Undone,
		Addresses: commands.ServiceAddresses{
			StaticIP: e.StaticIP, StaticIPv6Prefix: e.StaticIPv6Prefix, MACAddresses: e.MACAddresses,
			Routes: e.Routes,
		},
	}
	if o.Form <= openingUnkeyed {
		s.PasswordRef = commands.FirstPassword(o.ID)
	}
	for _, p := range o.Periods {
		read := Period{
			Ordinal: p.Ordinal, InvoiceID: p.InvoiceID, Mode: cmp.Or(p.Mode, o.Terms.Mode),
			Unit: cmp.Or(p.Unit, o.Terms.Period), State: cmp.Or(p.State, PeriodPaid), Begins: p.Begins,
			Anchor: p.Anchor, KeepsTime: !p.Timeless && o.Form > openingTimeless, BillingDay: p.BillingDay,
			Days: p.Days, Of: p.Of, Undone: p.Undone, Used: p.Used, Retakes: p.Retakes, Paused: p.Paused, Free: p.Free,
			Fixed: Span(p.Fixed), Price: p.Price,
		}
		for _, u := range p.Upgrades {
			read.Upgrades = append(read.Upgrades, Upgrade(u))
		}
		if read.InvoiceID.IsZero() {
			read.InvoiceID = s.invoiceOf(p.Ordinal)
		}
		if o.Form <= openingUntaken {
			read.Retakes = retook(s.Periods)
		}
		s.Periods = append(s.Periods, read)
	}
	for _, f := range o.Former {
		s.Former = append(s.Former, Former(f))
	}
	for _, g := range o.Gaps {
		s.Gaps = append(s.Gaps, Span(g))
	}
	for _, g := range o.Grants {
		s.Grants = append(s.Grants, Grant(g))
	}
	for _, c := range o.Compensated {
		s.Compensated = append(s.Compensated, Compensated(c))
	}
	return s
}

// retook reports whether a period that followed the periods of an old opening took the place of an undone one.
func retook(before []Period) bool {
	for _, p := range slices.Backward(before) {
		if !p.Undone || p.Used {
			return p.Undone
		}
	}
	return false
}

// firstOpening is the form of openings that was written before periods were facts of their own: the JSON of a Go struct
// with the names of its fields.
type firstOpening struct {
	ID           id.Subscription
	Owner        id.Organization
	SubscriberID id.Subscriber
	PlanVersion  int
	Terms        events.PlanTerms
	Timezone     string
	StartsAt     time.Time
	State        SubscriptionState
	PausedAt     time.Time
	PaidUntil    time.Time
	AnchorDay    int
	LastTo       time.Time           // postpaid: end of the latest period that became due
	Open         []id.Invoice        // of due and unpaid periods
	Paid         map[id.Invoice]Span // the 24 newest paid periods, shifts by pauses not included
}

// firstFormKept is the number of paid periods that an opening of the first form had at most.
const firstFormKept = 24

// reopenedFirstForm makes periods of what the first form kept. The paid time stays what it was.
func reopenedFirstForm(e events.SubscriptionPeriodClosed) Subscription {
	var o firstOpening
	if err := json.Unmarshal(e.Opening, &o); err != nil {
		panic(fmt.Sprintf("subscribers: read first opening of subscription %s: %v", e.SubscriptionID, err))
	}
	s := Subscription{
		ID: o.ID, Owner: o.Owner, SubscriberID: o.SubscriberID, PlanVersion: o.PlanVersion, Terms: o.Terms,
		Timezone: o.Timezone, StartsAt: o.StartsAt, Username: e.Username, State: o.State, PausedAt: o.PausedAt,
		PasswordRef: commands.FirstPassword(o.ID),
	}
	if o.Terms.Mode == events.Postpaid {
		return s.withFirstPostpaid(o)
	}
	return s.withFirstPrepaid(o)
}

// withFirstPostpaid fixes the paid periods in their places. The places of unpaid ones were not kept; they count as
// lying at the end of the latest.
func (s Subscription) withFirstPostpaid(o firstOpening) Subscription {
	paid := o.paidInOrder()
	s.Base = Base{End: o.LastTo, Anchor: o.AnchorDay}
	if len(paid) == 0 {
		s.Base.PaidUntil = o.PaidUntil
	}
	for i, invoice := range paid {
		place := o.Paid[invoice]
		if i == len(paid)-1 {
			place.To = latest(place.To, o.PaidUntil) // a pause may have moved the end
		}
		s = s.became(invoice, 0, func(p *Period) { p.State, p.Fixed = PeriodPaid, place })
	}
	for _, invoice := range o.Open {
		s = s.became(invoice, 0, func(p *Period) { p.State, p.Fixed = PeriodDue, Span{o.LastTo, o.LastTo} })
	}
	return s
}

// withFirstPrepaid makes a chain of the paid periods. What pauses had added to the paid time becomes a gap in the last
// of them.
func (s Subscription) withFirstPrepaid(o firstOpening) Subscription {
	paid := o.paidInOrder()
	if len(paid) == 0 {
		s.Base = Base{End: o.PaidUntil, Anchor: o.AnchorDay, PaidUntil: o.PaidUntil}
	}
	if len(paid) >= firstFormKept { // older ones are no longer known
		from := o.Paid[paid[0]].From
		s.Base = Base{Ordinal: 1, End: from, Anchor: o.AnchorDay, PaidUntil: from}
	}
	zone := s.zone()
	for _, invoice := range paid {
		from, end := o.Paid[invoice].From, s.Course().End
		s = s.became(invoice, 0, func(p *Period) {
			p.State = PeriodPaid
			if from.After(end) {
				p.Begins, p.Anchor = from, anchorAt(from, o.AnchorDay, zone)
			}
		})
	}
	if course := s.Course(); len(paid) > 0 && course.PaidUntil.Before(o.PaidUntil) {
		from := course.Places[len(paid)-1].From
		s.Gaps = withGap(s.Gaps, Span{from, from.Add(o.PaidUntil.Sub(course.PaidUntil))})
	}
	for _, invoice := range o.Open {
		s = s.became(invoice, 0, func(p *Period) { p.State = PeriodDue })
	}
	return s
}

// paidInOrder lists the paid invoices by the beginning of their periods.
func (o firstOpening) paidInOrder() []id.Invoice {
	return slices.SortedFunc(maps.Keys(o.Paid), func(a, b id.Invoice) int {
		return cmp.Or(o.Paid[a].From.Compare(o.Paid[b].From), o.Paid[a].To.Compare(o.Paid[b].To))
	})
}
