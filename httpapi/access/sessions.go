package accessapi

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Sessions serves /sessions.
type Sessions struct {
	Store *telemetry.Store
	// Lookups records questions who had an address. They are answered only after that.
	Lookups interface {
		Record(ctx context.Context, asked usecases.Asked, q accesscases.Lookup) error
	}
	Clock clock.Clock
	Zone  zoneOf
	Names deviceNames
}

// zoneOf gives the zone of an organization, in which its dates are.
type zoneOf func(context.Context, id.Organization) (*time.Location, error)

// at reads the instant of a question; zero without one. Only then the zone is looked up.
func (z zoneOf) at(ctx context.Context, c *httpapi.Call, f *httpapi.Filters) (time.Time, error) {
	if f.Text("at") == "" {
		return time.Time{}, nil
	}
	zone, err := z(ctx, c.Org.ID)
	if err != nil {
		return time.Time{}, err
	}
	return f.Instant("at", zone), nil
}

// Routes lists the endpoints of sessions.
func (a Sessions) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/sessions", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own:     httpapi.OwnRows,
			Summary: "Sessions on the network, newest first", Row: sessionResponse{}, Handle: a.list,
			Query: []httpapi.Param{
				{Name: "subscriberId", Type: "uuid"}, {Name: "deviceId", Type: "uuid", Doc: "the router"},
				{Name: "username", Type: "string"}, {Name: "online", Type: "boolean"},
				{Name: "access", Type: "string", Enum: sessionAccess, Doc: "given at the sign-in"},
				{Name: "ip", Type: "string", Doc: "who had this address at the time at; the audit log tells who asked"},
				{Name: "at", Type: "date-time", Doc: "only with ip"},
			},
		},
		{
			Method: "GET", Path: "/sessions/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "One session on the network", Response: sessionResponse{}, Handle: a.get,
		},
	}
}

// sessionResponse is a session (docs/rules/access.md#sessions).
type sessionResponse struct {
	ID             telemetry.SessionID    `json:"id"`
	SubscriberID   *id.Subscriber         `json:"subscriberId" doc:"null: not known"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: nobody, or not known yet"`
	SubscriptionID *id.Subscription       `json:"subscriptionId" doc:"null: not known"`
	VoucherID      *id.Voucher            `json:"voucherId" doc:"null: not a voucher's"`
	Username       string                 `json:"username" doc:"of a voucher its code as it was typed"`
	DeviceID       id.Device              `json:"deviceId"`
	DeviceName     *string                `json:"deviceName" doc:"of the router; null: not known"`
	IPAddress      *string                `json:"ipAddress" doc:"the latest one"`
	Addresses      []sessionAddress       `json:"addresses" doc:"all that are known, IPv6 and prefixes too"`
	MACAddress     *string                `json:"macAddress"`
	StartedAt      time.Time              `json:"startedAt"`
	UpdatedAt      time.Time              `json:"updatedAt" doc:"of the newest report"`
	EndedAt        *time.Time             `json:"endedAt" doc:"null: online"`
	EndReason      *endReason             `json:"endReason" doc:"null: online"`
	BytesIn        int64                  `json:"bytesIn" doc:"downloaded by the customer"`
	BytesOut       int64                  `json:"bytesOut"`
	Access         *string                `json:"access" enum:"full,throttled,walled_garden,none" doc:"at the sign-in"`
	Rate           *sessionRate           `json:"rate" doc:"null: not known"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *sessionResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// ForCustomer implements httpapi.StaffSees: the name of the router is staff's.
func (r *sessionResponse) ForCustomer() { r.DeviceName = nil }

// endReason is why a session ended.
type endReason string

// Texts implements httpapi.Enumerated.
func (endReason) Texts() []string { return telemetry.EndReasons() }

// sessionAddress is an address or a prefix that a session had.
type sessionAddress struct {
	Address string     `json:"address" doc:"a prefix has its length"`
	From    time.Time  `json:"from"`
	Until   *time.Time `json:"until" doc:"null: at present"`
	Granted bool       `json:"granted" doc:"given at the sign-in, and not reported by the router"`
}

// showAddresses writes a single address without its length.
func showAddresses(list []telemetry.Address) []sessionAddress {
	out := make([]sessionAddress, len(list))
	for i, a := range list {
		out[i] = sessionAddress{Address: a.Prefix.String(), From: a.From, Granted: a.Granted}
		if a.Until != nil {
			out[i].Until = new(a.Until.UTC())
		}
		if a.Prefix.IsSingleIP() {
			out[i].Address = a.Prefix.Addr().String()
		}
	}
	return out
}

// sessionRate has speeds in kbit/s.
type sessionRate struct {
	Down int64 `json:"down"`
	Up   int64 `json:"up"`
}

// sessionAccess are the values of the filter access: what a sign-in that is let in can give.
var sessionAccess = []string{
	entitlement.Full.String(), entitlement.Throttled.String(), entitlement.WalledGarden.String(),
}

// list answers with sessions, newest first.
func (a Sessions) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	at, err := a.Zone.at(ctx, c, f)
	if err != nil {
		return err
	}
	filter := telemetry.SessionFilter{
		Subscriber: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		Device:     httpapi.FilterID[id.Device](f, "deviceId"), Username: f.Text("username"), Online: f.Bool("online"),
		Access: f.OneOf("access", sessionAccess...), At: at,
	}
	if text := f.Text("ip"); text != "" {
		if filter.IP, err = netip.ParseAddr(text); err != nil || filter.IP.Zone() != "" {
			f.Add("ip", "must be an address")
		}
		filter.IP = filter.IP.Unmap() // in one form in the audit log, however it was typed
	}
	if f.Err() == nil && filter.IP.IsValid() == filter.At.IsZero() { // one that cannot be read was given, too
		f.Add("at", "must be given together with ip")
	}
	if filter.At.After(a.Clock.Now()) { // the present holder of an address says nothing about the future
		f.Add("at", "must not be in the future")
	}
	if err := f.Err(); err != nil {
		return err
	}
	if c.IsCustomer() && filter.IP.IsValid() { // who had an address is asked about other people
		return httpapi.ErrRoleRequired(events.RoleSupport)
	}
	if filter.Among, err = c.Among(filter.Subscriber); err != nil {
		return err
	}
	if filter.IP.IsValid() {
		c.Writer.Header().Set("Cache-Control", "no-store")
	}
	var names namedDevices // set when the page is read
	show := func(s telemetry.Session) sessionResponse { return showSession(s, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after telemetry.SessionKey, max int,
	) ([]telemetry.Session, error) {
		list, err := a.Store.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.Names.of(ctx, c.Org.ID, len(list), func(i int) id.Device { return list[i].DeviceID })
		if err == nil && filter.IP.IsValid() {
			err = a.Lookups.Record(ctx, c.Asked(), accesscases.Lookup{
				Address: filter.IP, HadAt: filter.At, Holders: holders(list),
			})
		}
		return list, err
	})
}

// holders are the subscribers of sessions, each once.
func holders(list []telemetry.Session) []id.Subscriber {
	var out []id.Subscriber
	for _, s := range list {
		if !s.SubscriberID.IsZero() && !slices.Contains(out, s.SubscriberID) {
			out = append(out, s.SubscriberID)
		}
	}
	return out
}

// get answers with one session.
func (a Sessions) get(ctx context.Context, c *httpapi.Call) error {
	var names namedDevices
	return httpapi.ReadOne(ctx, c, httpapi.One[telemetry.SessionID, telemetry.Session, sessionResponse]{
		Missing: commands.ErrNoSession,
		Show:    func(s telemetry.Session) sessionResponse { return showSession(s, names) },
		Read: func(ctx context.Context, org id.Organization, session telemetry.SessionID) (*telemetry.Session, error) {
			s, err := a.Store.Get(ctx, org, session)
			if err != nil || s == nil || !c.Sees(s.SubscriberID) {
				return nil, err
			}
			names, err = a.Names.of(ctx, org, 1, func(int) id.Device { return s.DeviceID })
			return s, err
		},
	})
}

// showSession writes times in UTC, and null for what is not known.
func showSession(s telemetry.Session, names namedDevices) sessionResponse {
	out := sessionResponse{
		ID: s.ID, SubscriberID: null.Of(s.SubscriberID), SubscriptionID: null.Of(s.SubscriptionID),
		Username: s.Username, DeviceID: s.DeviceID, DeviceName: names.name(s.DeviceID),
		MACAddress: null.Of(s.MAC), StartedAt: s.StartedAt.UTC(),
		UpdatedAt: s.UpdatedAt.UTC(), EndReason: null.Of(endReason(s.EndReason)),
		BytesIn: s.BytesDown, BytesOut: s.BytesUp,
		Access: null.Of(s.Access), Addresses: showAddresses(s.Addresses()),
	}
	if s.SubscriptionID == id.As[id.Subscription](s.SubscriberID) && !s.SubscriptionID.IsZero() {
		// docs/rules/access-vouchers.md#sessions
		out.SubscriberID, out.SubscriptionID = nil, nil
		out.VoucherID = new(id.As[id.Voucher](s.SubscriptionID))
	}
	if s.EndedAt != nil {
		out.EndedAt = new(s.EndedAt.UTC())
	}
	if s.IP != nil {
		out.IPAddress = new(s.IP.String())
	}
	if s.RateDown > 0 || s.RateUp > 0 {
		out.Rate = &sessionRate{Down: s.RateDown, Up: s.RateUp}
	}
	return out
}
