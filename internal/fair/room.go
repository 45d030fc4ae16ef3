package fair

import "github.com/lastmile-isp/lastmile/internal/id"

// Room shares out a capacity. An organization may take what is free as long as it then holds no more than what is left
// for the others: one alone gets half, two get a third each, and whoever holds little always finds room. The zero value
// has none. The owner's lock guards it.
type Room struct {
	Capacity int64
	used     int64
	held     map[id.Organization]int64
}

// Take takes n for an organization, and reports false when it may not.
func (r *Room) Take(org id.Organization, n int64) bool {
	if r.held[org]+n > r.Capacity-r.used-n {
		return false
	}
	r.Hold(org, n)
	return true
}

// Hold takes n for an organization in any case: what is there already.
func (r *Room) Hold(org id.Organization, n int64) {
	if r.held == nil {
		r.held = map[id.Organization]int64{}
	}
	r.held[org] += n
	r.used += n
}

// Give returns n of an organization.
func (r *Room) Give(org id.Organization, n int64) {
	r.used -= n
	if r.held[org] -= n; r.held[org] <= 0 {
		delete(r.held, org)
	}
}

// Held counts what an organization holds.
func (r *Room) Held(org id.Organization) int64 { return r.held[org] }

// Used counts what all organizations hold.
func (r *Room) Used() int64 { return r.used }
