package handset

import "net/netip"

// pool is a range of addresses and the place from which the next free one is looked for.
type pool struct {
	prefix netip.Prefix
	next   netip.Addr
}

// pools are the pools of a NAS and the addresses in use. Guarded by the lock of the NAS.
type pools struct {
	byName map[string]*pool
	any    *pool // for every name; nil = only the pools of byName are there
	used   map[netip.Addr]*session
}

// newPools makes the pools of Config.Pools.
func newPools(list map[string]netip.Prefix) pools {
	p := pools{byName: map[string]*pool{}, used: map[netip.Addr]*session{}}
	for name, prefix := range list {
		p.byName[name] = &pool{prefix: prefix.Masked()}
	}
	if list == nil {
		p.any = &pool{prefix: netip.MustParsePrefix("100.64.0.0/10")}
	}
	return p
}

// take gives a session the next free address of a pool; ok is false when the pool is not there or full.
func (p *pools) take(name string, s *session) (addr netip.Addr, ok bool) {
	from := p.byName[name]
	if from == nil {
		from = p.any
	}
	if from == nil {
		return addr, false
	}
	for range 1 << min(32-from.prefix.Bits(), 22) {
		if !from.next.IsValid() || !from.prefix.Contains(from.next) {
			from.next = from.prefix.Addr().Next() // not the network itself
		}
		addr, from.next = from.next, from.next.Next()
		if p.used[addr] == nil && from.prefix.Contains(addr) {
			p.used[addr] = s
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// release frees the address of a session, unless another one has it now.
func (p *pools) release(addr netip.Addr, s *session) {
	if p.used[addr] == s {
		delete(p.used, addr)
	}
}
