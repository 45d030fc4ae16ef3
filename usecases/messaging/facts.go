package messagingcases

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// facts is everything about a customer that a message depends on, at present.
type facts struct {
	org        identity.Organization
	zone       *time.Location
	hours      events.MessageHours
	quiet      *events.QuietHours // nil = never
	language   events.Language
	texts      Templates // in the language
	whatsApp   bool      // messages go there, too
	back       string    // why this one does not go there any more; "" = it may
	subscriber subscribersviews.SubscriberRow
	line       subscribersviews.SubscriptionRow
	dunning    accessviews.DunningRow           // of the line
	lines      []accessviews.DunningRow         // of all subscriptions of the customer
	account    billing.Account                  // of the customer
	asked      map[id.Subscription]money.Amount // of prepaid services for which no invoice asks
	shortcode  string                           // to which customers pay; "" = none
	usage      access.Usage                     // of the line; read for messages about a cap only
	outage     outages.Outage                   // read for messages about it only, as which it goes on
	told       bool                             // the customer was told that the outage, or a part of it, began
	telling    bool                             // of an end: the message of a beginning is at its gateway
	toldToday  bool                             // of a reminder: its invoices were told of on its day
	support    messaging.SupportRequest         // read for messages about an answer to it only
	portal     string                           // address of the portal; read for those, too
	document                                    // read for messages about one only
}

// load reads the facts. ok is false when the subscription or its customer is not known any more.
func (d *Delivery) load(ctx context.Context, args commands.SendMessage) (f facts, ok bool, err error) {
	for _, model := range []string{
		accessviews.DunningName, subscribersviews.SubscribersName, subscribersviews.SubscriptionsName,
	} {
		if err := d.Views.WaitFor(ctx, model, args.Position); err != nil {
			return facts{}, false, err
		}
	}
	if f, err = d.ofOrganization(ctx, args.OrgID); err != nil {
		return facts{}, false, err
	}
	subscriber, err := subscribersviews.SubscribersQuery{Views: d.Views}.Get(ctx, args.OrgID, args.SubscriberID)
	if err != nil || subscriber == nil {
		return facts{}, false, err
	}
	f.subscriber = *subscriber
	if args.Template.AboutDocument() {
		err := d.ofDocument(ctx, args, &f)
		return f, err == nil, err
	}
	if args.Template == events.NoticeSupport {
		err := d.ofSupport(ctx, args, &f)
		return f, err == nil, err
	}
	line, err := subscribersviews.SubscriptionsQuery{Views: d.Views}.Get(ctx, args.OrgID, args.SubscriptionID)
	if err != nil || line == nil {
		return facts{}, false, err
	}
	f.line = *line
	f.lines, err = accessviews.DunningQuery{Views: d.Views}.OfSubscriber(ctx, args.OrgID, args.SubscriberID)
	for _, row := range f.lines {
		if row.ID == args.SubscriptionID {
			f.dunning = row
		}
	}
	if err == nil && args.Template.AboutCap() {
		f.usage, _, err = bus.LoadOwned[access.Usage](ctx, d.Bus, args.OrgID, args.SubscriptionID)
	}
	if err == nil && args.Template.AboutOutage() {
		err = d.ofOutage(ctx, args, &f)
	}
	if err == nil {
		f.account, _, err = bus.LoadUnchecked[billing.Account](ctx, d.Bus, args.SubscriberID) // of the row above
	}
	prepaid := f.line.Terms.Mode == events.Prepaid
	if err == nil && prepaid && d.Asked != nil && !f.account.Asks(args.SubscriptionID) {
		f.asked, err = d.Asked(ctx, f.subscriber)
	}
	if err == nil {
		err = d.settings(ctx, &f)
	}
	if err == nil && args.Template.Reminds() {
		f.toldToday, err = d.toldToday(ctx, args, f)
	}
	return f, err == nil, err
}

// ofOrganization begins with what concerns all of its customers.
func (d *Delivery) ofOrganization(ctx context.Context, org id.Organization) (f facts, err error) {
	if f.org, _, err = bus.LoadOwned[identity.Organization](ctx, d.Bus, org, org); err != nil {
		return f, err
	}
	f.whatsApp = d.Gateways[events.ChannelWhatsApp] != nil
	f.zone, err = usecases.Zone(f.org.Billing)
	return f, err
}

// ofSupport reads the request that was answered.
func (d *Delivery) ofSupport(ctx context.Context, args commands.SendMessage, f *facts) (err error) {
	f.support, _, err = bus.LoadOwned[messaging.SupportRequest](ctx, d.Bus, args.OrgID, args.RequestID)
	if err != nil {
		return err
	}
	f.portal = d.Portal(f.org.Slug)
	return d.settings(ctx, f)
}

// message gives the state of a message; its id is made of the organization's.
func (d *Delivery) message(ctx context.Context, which id.Message) (messaging.Message, error) {
	m, _, err := bus.LoadUnchecked[messaging.Message](ctx, d.Bus, which)
	return m, err
}

// settings reads what the organization has set.
func (d *Delivery) settings(ctx context.Context, f *facts) error {
	rules, _, err := bus.LoadUnchecked[access.DunningRules](ctx, d.Bus, f.org.ID) // the id is the organization's own
	if err != nil {
		return err
	}
	policy, _ := rules.In(f.org.Billing.Currency).Policy(f.line.Terms.Access.DunningPolicy)
	f.hours = policy.MessageHours
	said, _, err := bus.LoadUnchecked[messaging.Settings](ctx, d.Bus, f.org.ID)
	if err != nil {
		return err
	}
	if f.quiet, f.language = said.Quiet, f.subscriber.Language; !f.language.Known() {
		f.language = languageOf(said)
	}
	f.texts = templatesOf(said, f.language)
	gateway, _, err := bus.LoadUnchecked[payments.Gateway](ctx, d.Bus, f.org.ID)
	if err != nil {
		return err
	}
	f.shortcode = d.Shortcode
	if gateway.Active() {
		f.shortcode = gateway.Shortcode
	}
	return nil
}

// silent reports whether a customer is not told: who wants no more than is needed, and where the organization has no
// text. Hours and days are bought one by one and end without a word (docs/rules/access-dunning.md#small-debts); what is
// used of their caps is told.
func (f facts) silent(about events.MessageTemplate) bool {
	switch {
	case f.subscriber.OnlyNeeded && !about.Needed():
		return true
	case about.AboutDocument():
		return f.document.silent || f.wordless(about)
	case about.AboutCap(), about.AboutOutage(), about == events.NoticeSupport:
		return f.wordless(about)
	}
	return f.line.Terms.EndsWithPaidTime() || f.wordless(about)
}

// wordless reports whether the organization says nothing on the ways on which the customer is reached.
func (f facts) wordless(about events.MessageTemplate) bool {
	channel, _ := f.address(about)
	return channel == "" && len(f.addresses()) > 0
}

// cause names what a message is about. A customer who pays invoices hears once of those that are due together, whatever
// number of subscriptions they are for.
func (f facts) cause(args commands.SendMessage) []string {
	of := args.SubscriberID.String()
	if f.line.Terms.Mode == events.Prepaid {
		of = args.SubscriptionID.String()
	}
	if args.Template.AboutCap() {
		// More that is allowed after a top-up makes a second message possible.
		return []string{
			args.SubscriptionID.String(), string(args.Template), args.CapPeriod.Period, args.CapPeriod.Starts.String(),
			strconv.FormatInt(args.CapCount.Allowed, 10),
		}
	}
	if args.Template.AboutOutage() {
		return []string{args.SubscriberID.String(), string(args.Template), args.OutageID.String()}
	}
	switch args.Template {
	case events.NoticeReceipt:
		return []string{
			args.SubscriberID.String(), string(args.Template), args.ReceiptID.String(), strconv.Itoa(args.Move),
		}
	case events.NoticeInvoice, events.NoticeIssued:
		return []string{args.SubscriberID.String(), string(args.Template), args.InvoiceID.String()}
	case events.NoticeSupport:
		return []string{
			args.SubscriberID.String(), string(args.Template), args.RequestID.String(), strconv.Itoa(args.Number),
		}
	default: // below
	}
	if args.Template.Reminds() {
		return []string{of, "reminder", args.DueAt.UTC().Format(time.RFC3339)}
	}
	return []string{of, string(args.Template)}
}

// message is the id of a message: one for each cause and local day, and for caps, outages, documents and answers one
// for each cause.
func (f facts) message(args commands.SendMessage) id.Message {
	day := ""
	if !args.Template.AboutCap() && !args.Template.AboutOutage() && !args.Template.AboutDocument() &&
		args.Template != events.NoticeSupport {
		day = calendar.On(args.At, f.zone).String()
	}
	parts := append([]string{args.OrgID.String(), day}, f.cause(args)...)
	return id.Derive[id.Message]("message", parts...)
}

// holds reports whether the message is still true at an instant.
func (f facts) holds(args commands.SendMessage, now time.Time) bool {
	if args.Template.AboutDocument() {
		return f.subscriber.Status != "forgotten" && f.stands(args)
	}
	if args.Template == events.NoticeSupport {
		return f.subscriber.Status != "forgotten" && f.support.Asked < args.Number // the customer has not read it yet
	}
	if f.line.State != "active" || f.subscriber.Status == "forgotten" {
		return false
	}
	if f.line.Blocked && !(args.Template.Reminds() && f.line.Terms.Mode == events.Postpaid) {
		return false // no payment gives access back; what was used on an invoice is owed all the same
	}
	state := f.dunning.State
	switch args.Template {
	case events.ReminderBefore, events.ReminderDue, events.ReminderOverdue:
		due := null.Zero(f.dunning.DueAt) // the table has whole microseconds
		asks := state.Rank() > 0 && due.Sub(args.DueAt).Abs() < time.Millisecond && f.due(args, now).Positive()
		return asks && !f.toldToday
	case events.NoticeGarden:
		return state == events.DunningWalledGarden
	case events.NoticeSuspended:
		return state.Off()
	case events.NoticeRestored:
		return !state.Cut()
	case events.NoticeOutage:
		return f.outage.Lasts() && !f.told
	case events.NoticeOutageOver:
		return !f.outage.Lasts() && f.told
	case events.NoticeCapWarned, events.NoticeCapThrottled, events.NoticeCapStopped:
		return now.Before(f.usage.Period.ResetsAt) &&
			f.usage.Tells(args.Template, args.CapPeriod, args.CapCount.Allowed, f.line.Terms.Access.Cap)
	}
	return false
}

// due gives the amount after whose payment the message is settled. For prepaid it is the price of the next period, with
// those of the services that the same money renews before. For postpaid it is the invoices that are overdue, in a
// reminder those that are by its due instant; what is due later is not asked for. Everything that the customer's money
// pays before is added.
func (f facts) due(args commands.SendMessage, now time.Time) money.Amount {
	if f.line.Terms.Mode == events.Prepaid {
		if begins, waits := f.asked[args.SubscriptionID]; waits {
			return begins
		}
		return f.account.ToRenew(args.SubscriptionID, f.line.NextLines(now, f.zone), f.org.Billing.Tax)
	}
	if args.Template.Reminds() {
		now = args.DueAt
	}
	total, overdue := f.overdue(now)
	return total.Add(f.account.PaidBefore(overdue))
}

// overdue are the postpaid invoices that are overdue at an instant, and their sum.
func (f facts) overdue(at time.Time) (total money.Amount, overdue []id.Invoice) {
	total = money.Of(0, f.org.Billing.Currency)
	for _, row := range f.lines {
		if row.PaidUntil != nil { // prepaid
			continue
		}
		for _, debt := range row.Owed().Overdue(at, f.zone) {
			if !slices.Contains(overdue, debt.InvoiceID) {
				overdue = append(overdue, debt.InvoiceID)
				total = total.Add(debt.Amount)
			}
		}
	}
	return total, overdue
}

// maxName bounds the name of the organization in a message, so that a text for phones stays short.
const maxName = 20

// values are the words that templates may use, at an instant.
func (f facts) values(args commands.SendMessage, link string, now time.Time) map[string]string {
	name := []rune(f.org.Name)
	if len(name) > maxName {
		name = name[:maxName]
	}
	say := phrases[f.language]
	pay := say.pay
	if f.shortcode != "" {
		pay = strings.ReplaceAll(say.paybill, "{shortcode}", f.shortcode)
	}
	v := map[string]string{
		"org": strings.TrimSpace(string(name)), "account": f.subscriber.AccountNumber, "link": link,
		"shortcode": f.shortcode, "pay": strings.ReplaceAll(pay, "{link}", link), "due": "",
	}
	if args.Template.AboutDocument() {
		f.ofDocumentValues(args, v)
		return v
	}
	if args.Template == events.NoticeSupport {
		v["portal"] = f.portal
		return v
	}
	v["amount"], v["plan"] = f.due(args, now).String(), f.line.Terms.Name
	if at := null.Zero(f.dunning.DueAt); !at.IsZero() {
		v["due"] = f.day(calendar.On(at.Add(-1), f.zone).Start(f.zone)) // the last day on which it was not overdue
	}
	if args.Template.AboutCap() {
		v["used"], v["allowed"] = events.Volume(args.CapCount.Used), events.Volume(args.CapCount.Allowed)
		v["resets"] = f.moment(f.usage.Period.ResetsAt)
		v["then"] = say.slower
		if args.CapCount.Then == events.CapStop {
			v["then"] = say.stops
		}
	}
	if args.Template.AboutOutage() {
		v["since"], v["what"] = f.outage.StartedAt.In(f.zone).Format("2/1 15:04"), f.outage.Title
	}
	return v
}

// way is one on which the customer is reached.
type way struct {
	channel events.MessageChannel
	to      string
}

// addresses are the ways on which the customer is reached, the preferred one first.
func (f facts) addresses() (list []way) {
	phone := null.Zero(f.subscriber.Phone)
	if second := f.subscriber.SecondPhone; second != "" && f.subscriber.MessageSecond {
		phone = second
	}
	if phone != "" {
		if f.whatsApp && f.subscriber.WhatsApp && f.back == "" {
			list = append(list, way{events.ChannelWhatsApp, phone})
		}
		list = append(list, way{events.ChannelSMS, phone})
	}
	if email := null.Zero(f.subscriber.Email); email != "" {
		list = append(list, way{events.ChannelEmail, email})
	}
	return list
}

// address is where the customer is told: by WhatsApp where it was chosen and has a text, else by SMS, and by e-mail
// where there is no phone or no text for it. The channel
// is "" when there is neither.
func (f facts) address(about events.MessageTemplate) (events.MessageChannel, string) {
	for _, w := range f.addresses() {
		if !f.texts[about].Empty(w.channel) {
			return w.channel, w.to
		}
	}
	return "", ""
}

// opens is the first instant from now on at which a message goes: within the hours of the dunning policy for what comes
// of dunning, outside the quiet hours for everything that can wait.
func (f facts) opens(about events.MessageTemplate, now time.Time) time.Time {
	switch {
	case about.AtOnce():
		return now
	case about.OfDunning():
		return opens(now, f.zone, f.hours, f.quiet)
	case f.quiet != nil:
		return after(*f.quiet, now, f.zone)
	}
	return now
}
