package telemetry

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// addressKind tells the addresses of a session apart. The numbers are in the tables.
type addressKind int16

// The kinds.
const (
	kindIPv4    addressKind = 1
	kindIPv6    addressKind = 2
	kindLink    addressKind = 3 // prefix of the link to the customer
	kindNetwork addressKind = 4 // prefix for the customer's own networks
)

// mostHeld bounds the addresses of a session, whatever its router reports. The oldest ones go.
const mostHeld = 64

// holding is an address of a session from an instant until the next one of its kind.
type holding struct {
	kind    addressKind
	granted bool // the sign-in gave it, and no report has told it
	address netip.Prefix
	from    int64 // seconds since 1970; the first one of a kind counts from the start of the session
}

// host is a single address as a prefix.
func host(a netip.Addr) netip.Prefix {
	if !a.IsValid() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
}

// held are the addresses of a session, by kind and time.
func (s *Session) held() (list []holding) {
	for line := range strings.Lines(s.Held) {
		parts := strings.Fields(line)
		if len(parts) != 3 || len(parts[0]) != 2 {
			continue
		}
		h := holding{kind: addressKind(parts[0][0] - '0'), granted: parts[0][1] == 'g'}
		h.from, _ = strconv.ParseInt(parts[2], 10, 64)
		if h.address, _ = netip.ParsePrefix(parts[1]); h.address.IsValid() {
			list = append(list, h)
		}
	}
	return list
}

// setHeld keeps the addresses of a session.
func (s *Session) setHeld(list []holding) {
	slices.SortStableFunc(list, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from))
	})
	if len(list) > mostHeld {
		list = list[len(list)-mostHeld:]
	}
	var text strings.Builder
	for _, h := range list {
		mark := "r"
		if h.granted {
			mark = "g"
		}
		_, _ = fmt.Fprintf(&text, "%d%s %s %d\n", h.kind, mark, h.address, h.from)
	}
	s.Held = text.String()
}

// hold notes that a session had an address at an instant. newer says that no later report of the session is known. The
// order of reports does not matter, as far as each tells of another change.
func (s *Session) hold(kind addressKind, address netip.Prefix, at time.Time, newer bool) {
	if !address.IsValid() {
		return
	}
	all := s.held()
	list := slices.DeleteFunc(slices.Clone(all), func(h holding) bool { return h.kind != kind || h.granted })
	others := slices.DeleteFunc(all, func(h holding) bool { return h.kind == kind })
	told, now := at.Unix(), -1 // the one that the session had at that instant
	for i, h := range list {
		if i == 0 || h.from <= told {
			now = i
		}
	}
	one := holding{kind: kind, address: address, from: told}
	switch {
	case now < 0:
		list = []holding{one}
	case list[now].address == address:
		if told < list[now].from {
			list[now].from = told
		}
	case told < list[now].from: // before all that is known
		list = slices.Insert(list, 0, one)
	case now+1 < len(list) && list[now+1].address == address: // which began earlier than was known
		list[now+1].from = told
	case now+1 == len(list) && !newer: // the present one was told again since
		again := list[now]
		if again.from = s.UpdatedAt.Unix(); told < again.from {
			list = append(list, one, again)
		} else {
			list = append(list, one)
		}
	default:
		list = slices.Insert(list, now+1, one)
	}
	s.setHeld(append(others, list...))
}

// holdGranted notes what the sign-in gave, for kinds of which no report tells an address.
func (s *Session) holdGranted(g Given) {
	list := s.held()
	for kind, address := range map[addressKind]netip.Prefix{
		kindIPv4: host(g.IP), kindLink: g.Link, kindNetwork: g.Network,
	} {
		if address.IsValid() && !slices.ContainsFunc(list, func(h holding) bool { return h.kind == kind }) {
			list = append(list, holding{kind, true, address, s.StartedAt.Unix()})
		}
	}
	s.setHeld(list)
}

// tellAddresses takes over the addresses that a report tells. What it does not tell stays.
func (s *Session) tellAddresses(r Report, newer bool) {
	if told := r.IP.Unmap(); told.IsValid() && present(&s.IP, told, newer) {
		s.hold(kindIPv4, host(told), r.At, newer)
	}
	if told := r.IPv6; told.IsValid() && present(&s.IPv6, told, newer) {
		s.hold(kindIPv6, host(told), r.At, newer)
	}
	if told := r.Link.Masked(); told.IsValid() && present(&s.FramedPrefix, told, newer) {
		s.hold(kindLink, told, r.At, newer)
	}
	if told := r.Network.Masked(); told.IsValid() && present(&s.DelegatedPrefix, told, newer) {
		s.hold(kindNetwork, told, r.At, newer)
	}
}

// present takes over a value, unless a newer report has told another one, and reports whether it may tell a change. A
// usual report tells the present value again, which costs nothing.
func present[T comparable](into **T, told T, newer bool) bool {
	if *into != nil && **into == told && newer {
		return false
	}
	if *into == nil || newer {
		*into = new(told)
	}
	return true
}

// SQL that writes the addresses of sessions.
const (
	clearHeldSQL = `delete from {schema}.addresses where session_id = any($1::uuid[])`
	saveHeldSQL  = `insert into {schema}.addresses (session_id, org_id, kind, address, from_at, until_at)
	select * from unnest(@sessions::uuid[], @orgs::uuid[], @kinds::smallint[], @addresses::text[]::cidr[],
		@from::timestamptz[], @until::timestamptz[])`
)

// queueHeld writes the addresses of sessions that begin, and of those that have others than before.
func (s *Store) queueHeld(batch *pgx.Batch, c changes) {
	var changed []SessionID
	var sessions, orgs []pgtype.UUID
	var kinds []int16
	var addresses []string
	var from, until []*time.Time
	for _, session := range slices.Concat(c.begun, c.whole) {
		if session.stored != nil {
			if session.stored.held == session.Held {
				continue
			}
			changed = append(changed, session.ID)
		}
		list := session.held()
		for i, h := range list {
			begins, ends := new(time.Unix(h.from, 0).UTC()), (*time.Time)(nil)
			if i == 0 || list[i-1].kind != h.kind {
				begins = nil
			}
			if i+1 < len(list) && list[i+1].kind == h.kind {
				ends = new(time.Unix(list[i+1].from, 0).UTC())
			}
			sessions, orgs = append(sessions, key(session.ID)), append(orgs, key(session.OrgID))
			kinds, addresses = append(kinds, int16(h.kind)), append(addresses, h.address.String())
			from, until = append(from, begins), append(until, ends)
		}
	}
	if len(changed) > 0 {
		batch.Queue(s.text(clearHeldSQL), keys(changed))
	}
	if len(sessions) > 0 {
		batch.Queue(s.text(saveHeldSQL), pgx.NamedArgs{
			"sessions": sessions, "orgs": orgs, "kinds": kinds, "addresses": addresses, "from": from, "until": until,
		})
	}
}

// hadSQL finds the sessions that had one of the addresses @nets at the instant @at.
const hadSQL = ` and x.id in (select a.session_id from {schema}.addresses a where a.org_id = @org
		and a.address = any(@nets::text[]::cidr[]) and (a.from_at is null or a.from_at <= @at)
		and (a.until_at is null or a.until_at > @at))
	and x.started_at <= @at and (x.ended_at is null or x.ended_at >= @at)`

// netsOf are the forms in which an address is in the tables: itself, and of IPv6 the prefixes that it lies in.
func netsOf(ip netip.Addr) []string {
	if ip = ip.Unmap(); ip.Is6() {
		return prefixesOf(ip)
	}
	return []string{host(ip).String()}
}

// Address is one that a session had, until an instant.
type Address struct {
	Prefix  netip.Prefix // a single address has all its bits
	From    time.Time
	Until   *time.Time // nil = it has it still
	Granted bool       // the sign-in gave it, and no report has told it
}

// Addresses gives those that a session had, as far as is known: of each kind one after the other.
func (s *Session) Addresses() []Address {
	list := s.held()
	out := make([]Address, len(list))
	for i, h := range list {
		out[i] = Address{h.address, time.Unix(h.from, 0).UTC(), s.EndedAt, h.granted}
		if i == 0 || list[i-1].kind != h.kind {
			out[i].From = s.StartedAt.UTC()
		}
		if i+1 < len(list) && list[i+1].kind == h.kind {
			out[i].Until = new(time.Unix(list[i+1].from, 0).UTC())
		}
	}
	return out
}
