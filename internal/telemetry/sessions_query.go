package telemetry

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// SessionFilter chooses sessions; zero fields choose all. IP and At belong together: who had the address at that time.
type SessionFilter struct {
	Subscriber id.Subscriber
	Among      []id.Subscriber // nil = all; an empty one finds nothing
	Device     id.Device
	Username   string
	Online     *bool
	Access     string // what the sign-in gave
	IP         netip.Addr
	At         time.Time
}

// SessionKey is a row's place in the list, newest first. The zero value starts at the newest row.
type SessionKey struct {
	StartedAt time.Time `json:"s"`
	ID        SessionID `json:"i"`
}

// Key makes the next page begin after this row.
func (s Session) Key() SessionKey { return SessionKey{s.StartedAt, s.ID} }

// List returns up to max sessions of an organization after a key, newest first.
func (s *Store) List(
	ctx context.Context, org id.Organization, f SessionFilter, after SessionKey, max int,
) ([]Session, error) {
	sql, args := f.query(org)
	if !after.ID.IsZero() {
		sql += " and (x.started_at, x.id) < (@after_at, @after_id)"
		args["after_at"], args["after_id"] = after.StartedAt, after.ID.UUID()
	}
	args["max"] = max
	var list []Session
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Session],
			s.text(sql+" order by x.started_at desc, x.id desc limit @max"), args)
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// query is the list without its order. Each condition alone has an index that gives the order, too.
func (f SessionFilter) query(org id.Organization) (string, pgx.NamedArgs) {
	args := pgx.NamedArgs{"org": org.UUID()}
	var sql strings.Builder
	sql.WriteString(`select ` + columns + ` from {schema}.sessions x where x.org_id = @org`)
	if !f.Subscriber.IsZero() {
		sql.WriteString(" and x.subscriber_id = @subscriber")
		args["subscriber"] = f.Subscriber.UUID()
	}
	if f.Among != nil {
		sql.WriteString(" and x.subscriber_id = any(@among)")
		args["among"] = f.Among
	}
	if !f.Device.IsZero() {
		sql.WriteString(" and x.device_id = @device")
		args["device"] = f.Device.UUID()
	}
	if f.Username != "" {
		sql.WriteString(" and x.username = @username")
		args["username"] = f.Username
	}
	if f.Online != nil && *f.Online {
		sql.WriteString(" and x.ended_at is null")
	} else if f.Online != nil {
		sql.WriteString(" and x.ended_at is not null")
	}
	if f.Access != "" {
		sql.WriteString(" and x.access = @access")
		args["access"] = f.Access
	}
	if !f.IP.IsValid() {
		sql.WriteString(" and not x.address_only")
	} else {
		args["nets"], args["at"] = netsOf(f.IP), f.At
		sql.WriteString(hadSQL)
	}
	return sql.String(), args
}

// shortestPrefix is the shortest one that is looked for; no customer has a larger network.
const shortestPrefix = 32

// prefixesOf are the prefixes that an address lies in. An index finds each of them, but not containment.
func prefixesOf(ip netip.Addr) []string {
	var list []string
	for bits := shortestPrefix; bits <= ip.BitLen(); bits++ {
		if p, err := ip.Prefix(bits); err == nil {
			list = append(list, p.String())
		}
	}
	return list
}

// Get returns one session of an organization, nil when it has none with this id, or keeps only its address.
func (s *Store) Get(ctx context.Context, org id.Organization, session SessionID) (*Session, error) {
	var row *Session
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[Session],
			s.text(`select `+columns+` from {schema}.sessions x where x.id = $1 and not x.address_only`),
			session.UUID())
	})
	if err != nil {
		return nil, fmt.Errorf("get session: %w", err)
	}
	return row, nil
}

// OpenSQL selects subscriber_id and subscription_id of the open sessions of the organization @org that belong to
// somebody, for the statements of lists of customers: a list that is filtered by it is read in one statement, so that
// its pages fit together. subscription_id can be null.
func OpenSQL(n postgres.Namespace) string {
	return `select x.subscriber_id, x.subscription_id from ` + n.Schema(part) + `.sessions x
		where x.org_id = @org and x.ended_at is null and x.subscriber_id is not null`
}

// Begun says that a customer's sessions were at a router from an instant on.
type Begun struct {
	DeviceID id.Device `db:"device_id"`
	At       time.Time `db:"started_at"`
}

// RoutersOf gives at which routers the sessions of a subscriber began before an instant, the oldest first: one entry
// for each change of the router.
func (s *Store) RoutersOf(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, before time.Time,
) ([]Begun, error) {
	var list []Begun
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Begun], s.text(`select device_id, started_at from (
				select x.device_id, x.started_at, x.id, lag(x.device_id) over (order by x.started_at, x.id) as former
				from {schema}.sessions x where x.org_id = $1 and x.subscriber_id = $2 and x.started_at < $3
					and not x.address_only) x
			where former is distinct from device_id order by started_at, id`),
			org.UUID(), subscriber.UUID(), before)
	})
	if err != nil {
		return nil, fmt.Errorf("list the routers of a subscriber: %w", err)
	}
	return list, nil
}
