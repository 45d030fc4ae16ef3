// Package changesviews says which resources of the API an event changes, for those who show them and want to read them
// again (docs/rules/http.md#stream-of-changes). It has no tables: a change names a topic and ids, and nothing else of
// an event.
package changesviews

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Topic is a kind of resource, by its word in the API's paths.
type Topic string

// The topics. Reset is none of them: it asks the reader to read everything again.
const (
	AccessDifferences Topic = "access-differences"
	APIKeys           Topic = "api-keys"
	Approvals         Topic = "approvals"
	Bills             Topic = "bill-manager"
	Batches           Topic = "batches"
	BillingRuns       Topic = "billing-runs"
	Breakers          Topic = "breakers"
	Compensations     Topic = "compensations"
	CPEs              Topic = "cpe"
	Devices           Topic = "devices"
	Dunning           Topic = "dunning"
	Invoices          Topic = "invoices"
	Messages          Topic = "messages"
	Orgs              Topic = "orgs"
	Outages           Topic = "outages"
	PaymentGateway    Topic = "payment-gateway"
	Payments          Topic = "payments"
	Plans             Topic = "plans"
	Receipts          Topic = "receipts"
	Reconciliations   Topic = "reconciliations"
	Refunds           Topic = "refunds"
	Services          Topic = "services"
	Sessions          Topic = "sessions"
	Settings          Topic = "settings"
	Subscribers       Topic = "subscribers"
	Subscriptions     Topic = "subscriptions"
	SupportRequests   Topic = "support-requests"
	TaxDocuments      Topic = "tax-documents"
	Timeline          Topic = "timeline"
	Users             Topic = "users"
	Vouchers          Topic = "vouchers"
	Webhooks          Topic = "webhook-endpoints"

	Reset Topic = "reset"
)

// topic says who hears of a topic, and which ids it has.
type topic struct {
	path string // whose readers hear of it
	role events.Role
	root bool         // it is read on the root host, too, or there alone
	org  bool         // it is read on an organization's host
	ids  reflect.Type // of the ids; nil = it has none, or they are no fields of events
}

// topics has the facts of each topic. A test compares the roles with those of the routes.
var topics = map[Topic]topic{
	AccessDifferences: {path: "/access-differences", role: events.RoleSupport, org: true, ids: of[id.Difference]()},
	APIKeys:           {path: "/api-keys", role: events.RoleAdmin, org: true, ids: of[id.APIKey]()},
	Approvals:         {path: "/approvals", role: events.RoleSupport, org: true, ids: of[id.Approval]()},
	Batches:           {path: "/batches", role: events.RoleSupport, org: true, ids: of[id.Batch]()},
	Bills:             {path: "/bill-manager/invoices", role: events.RoleSupport, org: true, ids: of[id.Invoice]()},
	BillingRuns:       {path: "/billing/runs", role: events.RoleSupport, org: true, ids: of[id.BillingRun]()},
	Breakers:          {path: "/platform/breakers", role: events.RoleAdmin, org: true, root: true},
	Compensations:     {path: "/compensations", role: events.RoleSupport, org: true, ids: of[id.Compensation]()},
	CPEs:              {path: "/cpe/devices", role: events.RoleSupport, org: true, ids: of[id.CPE]()},
	Devices:           {path: "/nas/devices", role: events.RoleAdmin, org: true, ids: of[id.Device]()},
	Dunning:           {path: "/dunning", role: events.RoleSupport, org: true, ids: of[id.Subscription]()},
	Invoices:          {path: "/invoices", role: events.RoleSupport, org: true, ids: of[id.Invoice]()},
	Messages:          {path: "/messages", role: events.RoleSupport, org: true, ids: of[id.Message]()},
	Orgs:              {path: "/orgs", role: events.RoleSuperAdmin, root: true, ids: of[id.Organization]()},
	Outages:           {path: "/outages", role: events.RoleSupport, org: true, ids: of[id.Outage]()},
	PaymentGateway:    {path: "/paybill", role: events.RoleSupport, org: true},
	Payments:          {path: "/payments", role: events.RoleSupport, org: true, ids: of[id.Payment]()},
	Plans:             {path: "/plans", role: events.RoleSupport, org: true, ids: of[id.Plan]()},
	Receipts:          {path: "/receipts", role: events.RoleSupport, org: true, root: true, ids: of[id.Receipt]()},
	Reconciliations: {
		path: "/reconciliations", role: events.RoleAdmin, org: true, root: true, ids: of[id.Reconciliation](),
	},
	Refunds:       {path: "/refunds", role: events.RoleSupport, org: true, ids: of[id.Refund]()},
	Services:      {path: "/nas/services/:id", role: events.RoleAdmin, org: true, ids: of[id.Service]()},
	Sessions:      {path: "/sessions", role: events.RoleSupport, org: true},
	Settings:      {path: "/settings/organization", role: events.RoleSupport, org: true},
	Subscribers:   {path: "/subscribers", role: events.RoleSupport, org: true, ids: of[id.Subscriber]()},
	Subscriptions: {path: "/subscriptions", role: events.RoleSupport, org: true, ids: of[id.Subscription]()},
	SupportRequests: {
		path: "/support-requests", role: events.RoleSupport, org: true, ids: of[id.Support](),
	},
	TaxDocuments: {path: "/tax-documents", role: events.RoleSupport, org: true, ids: of[id.Signature]()},
	Timeline: {
		path: "/subscribers/:id/timeline", role: events.RoleSupport, org: true, ids: of[id.Subscriber](),
	},
	Users:    {path: "/users", role: events.RoleAdmin, org: true, ids: of[id.User]()},
	Vouchers: {path: "/vouchers", role: events.RoleSupport, org: true, ids: of[id.Voucher]()},
	Webhooks: {path: "/webhook-endpoints", role: events.RoleAdmin, org: true, ids: of[id.Webhook]()},
}

// of is the type of an id.
func of[I any]() reflect.Type { return reflect.TypeFor[I]() }

// Texts lists all topics and Reset, sorted, for the API's document.
func (Topic) Texts() []string {
	list := []string{string(Reset)}
	for name := range topics {
		list = append(list, string(name))
	}
	slices.Sort(list)
	return list
}

// Path is the address of the API whose readers hear of the topic; "" for Reset, of which everybody hears.
func (t Topic) Path() string { return topics[t].path }

// Role is the lowest role that hears of the topic.
func (t Topic) Role() events.Role { return topics[t].role }

// Hears reports whether a role hears of the topic: on the host of an organization, or else on the root host.
func (t Topic) Hears(role events.Role, organization bool) bool {
	facts, known := topics[t]
	switch {
	case t == Reset:
		return true
	case !known || !role.AtLeast(facts.role):
		return false
	case organization:
		return facts.org
	}
	return facts.root
}

// Change says that a resource is not any more what a reader saw.
type Change struct {
	OrgID        id.Organization // zero = of the platform, told on the root host
	Topic        Topic
	ID           id.Any        // zero = several, or the topic has no ids
	SubscriberID id.Subscriber // whose it is; zero = of no customer, or the event does not name him
	Type         string        // the event's name without its version; "" = several
	At           time.Time
}

// Translator gives the changes of events. It is immutable.
type Translator struct {
	of map[string]*shape // by event type
}

// shape says what an event type tells, and where its events name an organization and a customer.
type shape struct {
	told                []told
	owners, subscribers [][]int
}

// told is a topic of which an event type tells, with the fields that have its ids.
type told struct {
	topic Topic
	ids   [][]int
}

// The types of two fields that every event may have.
var (
	organizationID = reflect.TypeFor[id.Organization]()
	subscriberID   = reflect.TypeFor[id.Subscriber]()
	anyID          = reflect.TypeFor[id.Any]()
)

// New makes a translator. handled lists the types of the events that change what is read under each topic: those that
// its read models handle. all has an event of every type.
func New(handled map[Topic][]string, all []events.Event) Translator {
	t := Translator{of: map[string]*shape{}}
	for _, e := range all {
		form := reflect.TypeOf(e)
		s := &shape{owners: fieldsOf(form, organizationID), subscribers: fieldsOf(form, subscriberID)}
		for _, name := range slices.Sorted(maps.Keys(handled)) {
			if slices.Contains(handled[name], e.EventType()) {
				s.told = append(s.told, told{name, fieldsOf(form, topics[name].ids)})
			}
		}
		if len(s.told) > 0 {
			t.of[e.EventType()] = s
		}
	}
	return t
}

// fieldsOf finds the fields of a type in an event, also in embedded structs.
func fieldsOf(event, field reflect.Type) (found [][]int) {
	if field == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(event) {
		if !f.Anonymous && f.Type == field {
			found = append(found, f.Index)
		}
	}
	return found
}

// Types lists the event types that change something, sorted.
func (t Translator) Types() []string {
	return slices.Sorted(maps.Keys(t.of))
}

// Of gives the changes by an event, one for each topic and id. Whose they are is the organization that the event names,
// or each of them when it moves something from one to another, else that of its metadata: nobody else hears of them.
// What has no organization, and what the platform itself keeps, is told on the root host.
func (t Translator) Of(e *events.Envelope) (changes []Change) {
	form := t.of[e.Type]
	if form == nil {
		return nil
	}
	event := reflect.ValueOf(e.Event)
	owners := idsOf(event, form.owners)
	if len(owners) == 0 && !e.Meta.OrgID.IsZero() {
		owners = []id.Any{id.Any(e.Meta.OrgID)}
	}
	change := Change{Type: nameOf(e.Type), At: e.Meta.At.UTC()}
	if named := idsOf(event, form.subscribers); len(named) > 0 {
		change.SubscriberID = id.Subscriber(named[0])
	}
	for _, one := range form.told {
		facts := topics[one.topic]
		change.Topic = one.topic
		ids := idsOf(event, one.ids)
		if facts.org {
			for _, owner := range owners {
				change.OrgID = id.Organization(owner)
				changes = append(changes, change.each(ids)...)
			}
		}
		if facts.root && (!facts.org || e.Meta.OrgID.IsZero()) {
			change.OrgID = id.Organization{}
			changes = append(changes, change.each(ids)...)
		}
	}
	return changes
}

// each gives the change of each id; without ids it is the change of some resource of the topic.
func (c Change) each(ids []id.Any) []Change {
	if len(ids) == 0 {
		return []Change{c}
	}
	list := make([]Change, len(ids))
	for i, one := range ids {
		c.ID = one
		if topics[c.Topic].ids == subscriberID {
			c.SubscriberID = id.Subscriber(one)
		}
		list[i] = c
	}
	return list
}

// idsOf reads ids from fields of an event; zero ones and repetitions are left out.
func idsOf(event reflect.Value, fields [][]int) (ids []id.Any) {
	for _, field := range fields {
		one, ok := event.FieldByIndex(field).Convert(anyID).Interface().(id.Any)
		if ok && !one.IsZero() && !slices.Contains(ids, one) {
			ids = append(ids, one)
		}
	}
	return ids
}

// nameOf is the name of an event type without its version, which readers need not know.
func nameOf(eventType string) string {
	name, _, _ := strings.Cut(eventType, ".v")
	return name
}
