// Package messagingcases has the use cases about messages to customers.
package messagingcases

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Outgoing is a message as a gateway gets it.
type Outgoing struct {
	ID         id.Message // the same at every repeat: a gateway sends it once where it can
	Org        id.Organization
	Sender     string // name of the organization
	Subscriber id.Subscriber
	At         time.Time
	Channel    events.MessageChannel
	To         string
	Template   events.MessageTemplate
	Subject    string // of an e-mail
	Text       string
	Approved   Approved // for WhatsApp
}

// Approved is a text that WhatsApp has approved before, with the values of its places in their order.
type Approved struct {
	Name     string
	Language events.Language
	Values   []string
}

// Handed tells what a gateway says about a message that it took.
type Handed struct {
	Reference string // under which it reports about it; "" = it does not
	Cost      string // in its own words; "" = not known
}

// Gateway takes messages of one channel. ErrUnclear means that it may have taken the message, and a *Refusal that it
// never will; after any other error the message was certainly not taken, and is tried again.
type Gateway interface {
	Send(ctx context.Context, m Outgoing) (Handed, error)
	// Once reports whether a message of one id goes once, however often it is handed over.
	Once() bool
}

// ErrUnclear is the failure of a message whose answer was lost.
var ErrUnclear = errors.New("the message may have been taken: its answer was lost")

// Refusal is a gateway's refusal of one message, which it would refuse again.
type Refusal struct{ Code string }

// Error gives the code.
func (r *Refusal) Error() string { return "the gateway refuses the message: " + r.Code }

// Offers remembers, across a stop, which messages are being handed to a gateway that cannot recognize a repeat.
type Offers interface {
	Begin(ctx context.Context, message id.Message) (vault.Offer, error)
	Took(ctx context.Context, message id.Message, reference, cost string) error
	End(ctx context.Context, message id.Message) error
}

// Delivery sends messages. Safe for concurrent use.
type Delivery struct {
	Bus       *bus.Bus
	Views     *runner.Views
	Clock     clock.Clock
	Gateways  map[events.MessageChannel]Gateway // a channel without a gateway fails its messages
	Offers    Offers                            // nil where every gateway is one of Once
	Shortcode string                            // of the platform's paybill; "" = none
	BillOptIn id.Shortcode                      // of the platform at the bill manager; zero = none
	PayLink   func(slug string) string          // address of the payment page of an organization
	Portal    func(slug string) string          // address of the portal of an organization
	// Asked tells what begins each service of a customer that waits for money, and for which no invoice asks; a nil
	// function means that there are none.
	Asked func(ctx context.Context, customer subscribersviews.SubscriberRow) (map[id.Subscription]money.Amount, error)
	// Fuse holds the messages of an organization that sends far more than usual; nil = none is held.
	Fuse *usecases.Fuse

	mu    sync.Mutex
	taken map[id.Any]taken // by job: its gateway took it, and the log has no record of that yet
}

// taken is a message that its gateway took.
type taken struct {
	which   id.Message
	channel events.MessageChannel
	handed  Handed
	back    bool // on the way back
}

// Attempt says who makes an attempt.
type Attempt struct {
	Job  id.Any                          // the same in every attempt
	Meta func(name string) commands.Meta // makes the metadata of an outcome; the same name acts once
	back bool                            // on the way back, whose outcomes are others than those on the way there
	// place is reserved below the fuse, and used when the gateway takes the message, or may have taken it.
	place *usecases.FusePlace
}

// offer is the id under which a message is offered on its way.
func (a Attempt) offer(which id.Message) id.Message {
	if a.back {
		return id.Derive[id.Message]("way back", which.String())
	}
	return which
}

// meta makes the metadata of an outcome.
func (a Attempt) meta(name string) commands.Meta {
	if a.back {
		name = "back: " + name
	}
	return a.Meta(name)
}

// Codes of messages that were not sent.
const (
	codeExpired    = "expired"        // its moment was over
	codeUntrue     = "no_longer_true" // the customer has paid, or what it says has changed otherwise
	codeUnwanted   = "not_wanted"     // the customer or the organization wants no such message any more
	codeNoHours    = "no_hours"       // the organization's hours leave no time for messages
	codeNoAddress  = "no_address"     // the customer has neither phone nor e-mail
	codeNoGateway  = "no_gateway"     // nothing sends messages of this channel
	codeGateway    = "gateway_failed" // the gateway did not take it until its moment was over
	codeNoTemplate = "template_broken"
)

// senderWait is how long a job waits, at least, while another job of the same cause has the message.
const senderWait = 10 * time.Minute

// Send makes one attempt at a message. again is set when the message has to wait until then. An error is tried again
// until the message has ended. One that its gateway took is not offered again while the log takes no record of that.
func (d *Delivery) Send(ctx context.Context, args commands.SendMessage, a Attempt) (again time.Time, err error) {
	if of, taken := d.took(a); taken {
		return d.firstLook(of.channel), d.confirm(ctx, a, of)
	}
	if a.place, again, err = d.reserve(ctx, args, a.Job); err != nil || !again.IsZero() {
		return again, err
	}
	defer a.place.GiveBack()
	return d.attempt(ctx, args, a)
}

// attempt is Send of a message that its gateway has not taken, with a place below the fuse.
func (d *Delivery) attempt(ctx context.Context, args commands.SendMessage, a Attempt) (again time.Time, err error) {
	f, ok, err := d.load(ctx, args)
	switch {
	case err != nil || !ok:
		return time.Time{}, err
	case f.silent(args.Template):
		return time.Time{}, d.unwanted(ctx, a, f.message(args))
	}
	which, now := f.message(args), d.Clock.Now()
	if look := f.incomplete(args, now); !look.IsZero() {
		return look, nil
	}
	late := !now.Before(args.Until)
	holds := !late && f.holds(args, now)
	m, err := d.queue(ctx, args, a, which, holds)
	mine := m.Sender == a.Job
	if f.back = m.Back; err == nil && mine && !m.Watched.IsZero() {
		if err := d.endOffer(ctx, Attempt{}, which); err != nil { // a stop may have left it
			return time.Time{}, err
		}
		if !m.Turns() || late || !holds {
			return nextLook(m, now), err
		}
		f.back, m.Over = backUndelivered, false
	}
	switch {
	case err != nil || m.Over || !mine && !holds:
		return time.Time{}, err
	case late:
		return time.Time{}, d.late(ctx, a, which, m)
	case !holds:
		return time.Time{}, d.untrue(ctx, a, which, m)
	}
	open := f.opens(args.Template, now)
	if look := now.Add(senderWait); !mine && open.Before(look) {
		open = look
	}
	switch {
	case open.IsZero():
		return time.Time{}, d.fail(ctx, a, which, codeNoHours)
	case open.After(now):
		return notAfter(open, args.Until), nil // to drop it then
	}
	return d.hand(ctx, f, args, a)
}

// notAfter is an instant, or the last one when that comes first.
func notAfter(at, last time.Time) time.Time {
	if at.After(last) {
		return last
	}
	return at
}

// queue asks for the message of a job and gives its state. When it is there already it stays that of its sender, which
// may be a job about another line of the customer. One that its sender dropped told nobody: a job whose news is true
// takes it up. Nothing is asked for about money, invoices and outages of which there is nothing to tell from the
// beginning.
func (d *Delivery) queue(
	ctx context.Context, args commands.SendMessage, a Attempt, which id.Message, holds bool,
) (messaging.Message, error) {
	m, _, err := bus.LoadUnchecked[messaging.Message](ctx, d.Bus, which) // the id is made of the organization's
	takes := m.Dropped && m.Sender != a.Job && holds
	quiet := args.Template.AboutDocument() && args.Template != events.NoticeInvoice || args.Template.AboutOutage()
	untold := m.Org.IsZero() && !holds && quiet
	if err != nil || untold || !m.Org.IsZero() && !takes {
		return m, err
	}
	_, err = d.Bus.Execute(ctx, commands.QueueMessage{
		MessageID: which, OrgID: args.OrgID, SubscriberID: args.SubscriberID, SubscriptionID: args.SubscriptionID,
		Template: args.Template, Until: args.Until, Sender: a.Job, OutageID: args.OutageID,
	}, a.meta("queue"))
	if err != nil {
		return m, err
	}
	m, _, err = bus.LoadUnchecked[messaging.Message](ctx, d.Bus, which)
	return m, err
}

// backUndelivered is why a message takes the way back that WhatsApp took and did not deliver.
const backUndelivered = "undelivered"

// looks are when a job looks for the report about a message that WhatsApp took, counted from then on, and later each
// time when twice as long has passed. Reports of what cannot be delivered come within a minute, but after hours when
// this program was away; a phone that is off has the message later.
var looks = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// nextLook is when to look again for the report about a message; zero = it has come, or nobody waits any more.
func nextLook(m messaging.Message, now time.Time) time.Time {
	if m.Delivered || m.Missed || !now.Before(m.Until) {
		return time.Time{}
	}
	later := looks[len(looks)-1]
	for !m.Watched.Add(later).After(now) {
		later *= 2
	}
	for _, after := range append(looks[:len(looks):len(looks)], later) {
		if at := m.Watched.Add(after); at.After(now) && at.Before(m.Until) {
			return at
		}
	}
	return time.Time{}
}

// hand gives the message to the gateway of its way and records what came of it. What WhatsApp has certainly not taken
// takes the way back at once.
func (d *Delivery) hand(
	ctx context.Context, f facts, args commands.SendMessage, a Attempt,
) (again time.Time, err error) {
	a.back = f.back != ""
	err = d.handOn(ctx, f, args, a)
	var turned *turnedBack
	if errors.As(err, &turned) {
		f.back = turned.code
		if channel, _ := f.address(args.Template); channel == "" {
			return time.Time{}, d.onlyThere(ctx, a, f.message(args), turned)
		}
		a.back = true
		err = d.handOn(ctx, f, args, a)
	}
	channel, _ := f.address(args.Template)
	return d.firstLook(channel), err
}

// firstLook is when to look for the report about a message that has just gone; zero for a way without a way back.
func (d *Delivery) firstLook(channel events.MessageChannel) time.Time {
	if channel != events.ChannelWhatsApp {
		return time.Time{}
	}
	return d.Clock.Now().Add(looks[0])
}

// turnedBack is the failure of a message that WhatsApp has certainly not taken.
type turnedBack struct{ code string }

// Error gives the code.
func (t *turnedBack) Error() string { return "WhatsApp did not take the message: " + t.code }

// onlyThere ends a message that has no way back, when WhatsApp refuses it. One that WhatsApp did not take is tried
// there again, as on every other way.
func (d *Delivery) onlyThere(ctx context.Context, a Attempt, which id.Message, turned *turnedBack) error {
	if turned.code == codeGateway {
		return turned
	}
	return d.fail(ctx, a, which, turned.code)
}

// handOn gives the message to the gateway of the best way that is left. Fails: *turnedBack.
func (d *Delivery) handOn(ctx context.Context, f facts, args commands.SendMessage, a Attempt) error {
	which := f.message(args)
	channel, to := f.address(args.Template)
	if channel == "" {
		return d.fail(ctx, a, which, codeNoAddress)
	}
	values := f.values(args, d.PayLink(f.org.Slug), d.Clock.Now())
	subject, text, err := render(f.texts[args.Template], channel, values)
	if err != nil || text == "" {
		return d.fail(ctx, a, which, codeNoTemplate)
	}
	gateway, ok := d.Gateways[channel]
	if !ok {
		return d.fail(ctx, a, which, codeNoGateway)
	}
	_, err = d.Bus.Execute(ctx, commands.AddressMessage{
		MessageID: which, Channel: channel, To: personal.Of(to), Back: f.back,
	}, a.meta("address"))
	if err != nil {
		return err
	}
	return d.offer(ctx, a, gateway, Outgoing{
		ID: which, Org: args.OrgID, Sender: f.org.Name, Subscriber: args.SubscriberID, At: d.Clock.Now(),
		Channel: channel, To: to, Template: args.Template, Subject: subject, Text: text,
		Approved: approved(f.texts[args.Template], f.language, values),
	})
}

// offer hands a message to its gateway, once: after a stop in between, what the gateway took is recorded, and what it
// may have taken is in doubt. Fails: *turnedBack for WhatsApp.
func (d *Delivery) offer(ctx context.Context, a Attempt, gateway Gateway, m Outgoing) error {
	notes := d.Offers
	if gateway.Once() {
		notes = noOffers{}
	}
	offer := a.offer(m.ID)
	before, err := notes.Begin(ctx, offer)
	switch {
	case err != nil:
		return err
	case before.Taken:
		return d.confirm(ctx, a, d.note(a, m, Handed{before.Reference, before.Cost}))
	case before.Before:
		return d.doubt(ctx, a, m.ID)
	}
	handed, err := gateway.Send(ctx, m)
	if err == nil || errors.Is(err, ErrUnclear) {
		a.place.Use()
	}
	after, done := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer done()
	var refusal *Refusal
	switch {
	case err == nil:
		of := d.note(a, m, handed)
		return errors.Join(notes.Took(after, offer, handed.Reference, handed.Cost), d.confirm(ctx, a, of))
	case errors.Is(err, ErrUnclear):
		return d.doubt(ctx, a, m.ID)
	case errors.As(err, &refusal) && m.Channel == events.ChannelWhatsApp:
		return cmp.Or[error](notes.End(after, offer), &turnedBack{refusal.Code})
	case m.Channel == events.ChannelWhatsApp:
		return cmp.Or[error](notes.End(after, offer), &turnedBack{codeGateway})
	case errors.As(err, &refusal):
		return errors.Join(notes.End(after, offer), d.fail(ctx, a, m.ID, refusal.Code))
	}
	return errors.Join(err, notes.End(after, offer))
}

// afterwards bounds the note of what a gateway has said, which is made also when the job's time is over.
const afterwards = 5 * time.Second

// noOffers are those of a gateway that recognizes repeats: there is nothing to remember.
type noOffers struct{}

// Begin finds nothing.
func (noOffers) Begin(context.Context, id.Message) (vault.Offer, error) { return vault.Offer{}, nil }

// Took keeps nothing.
func (noOffers) Took(context.Context, id.Message, string, string) error { return nil }

// End has nothing to forget.
func (noOffers) End(context.Context, id.Message) error { return nil }

// note remembers a message that its gateway took until the log has a record of that.
func (d *Delivery) note(a Attempt, m Outgoing, handed Handed) taken {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken == nil {
		d.taken = map[id.Any]taken{}
	}
	d.taken[a.Job] = taken{m.ID, m.Channel, handed, a.back}
	return d.taken[a.Job]
}

// took gives the message of an attempt's job that its gateway took before; false for others.
func (d *Delivery) took(a Attempt) (of taken, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of, known = d.taken[a.Job]
	return of, known
}

// confirm records that the gateway took a message, unless another program has ended it meanwhile.
func (d *Delivery) confirm(ctx context.Context, a Attempt, of taken) error {
	a.back = of.back
	_, err := d.Bus.Execute(ctx, commands.ConfirmMessage{
		MessageID: of.which, Reference: of.handed.Reference, Cost: of.handed.Cost,
	}, a.meta("confirm"))
	if err != nil && failure.CodeOf(err) != "message_over" {
		return err
	}
	d.mu.Lock()
	delete(d.taken, a.Job)
	d.mu.Unlock()
	return d.endOffer(ctx, a, of.which)
}

// endOffer forgets the offer of a message whose end is recorded.
func (d *Delivery) endOffer(ctx context.Context, a Attempt, which id.Message) error {
	if d.Offers == nil {
		return nil
	}
	return d.Offers.End(ctx, a.offer(which))
}

// doubt records that nobody knows whether a message was taken, unless another program has ended it meanwhile.
func (d *Delivery) doubt(ctx context.Context, a Attempt, which id.Message) error {
	_, err := d.Bus.Execute(ctx, commands.DoubtMessage{MessageID: which}, a.meta("doubt"))
	if err != nil && failure.CodeOf(err) != "message_over" {
		return err
	}
	return d.endOffer(ctx, a, which)
}
