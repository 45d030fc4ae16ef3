package terminals

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
)

// refusal is the body of a no.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The refusals of the system.
var (
	noTerminal = refusal{"olt_not_found", "No such terminal"}
	noPort     = refusal{"port_not_found", "No such port"}
	noONU      = refusal{"onu_not_found", "The ONU is not registered"}
	notSeen    = refusal{"onu_not_seen", "The ONU is not on the fibre of this port"}
	elsewhere  = refusal{"onu_elsewhere", "The ONU is registered at another port"}
	full       = refusal{"port_full", "The port serves as many ONUs as it can"}
	// unreachable is that of a terminal that the system does not reach.
	unreachable = refusal{"olt_unreachable", "The terminal does not answer"}
	noVLAN      = refusal{"vlan_not_allowed", "The terminal does not carry this VLAN"}
)

// reading is an ONU on the wire.
type reading struct {
	Serial   string   `json:"serial"`
	OLT      string   `json:"olt"`
	Port     string   `json:"port"`
	ONUID    int      `json:"onuId"`
	State    string   `json:"state"`
	VLAN     int      `json:"vlan,omitempty"`
	Rx       *float64 `json:"rxDbm,omitempty"`
	Tx       *float64 `json:"txDbm,omitempty"`
	AtOLT    *float64 `json:"oltRxDbm,omitempty"`
	Distance int      `json:"distanceM,omitempty"`
}

// register puts an ONU on a port. One that is there stays as it is.
func (s *Simulator) register(r *http.Request) (int, any) {
	var body struct {
		Port string `json:"port"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Port == "" {
		return http.StatusBadRequest, refusal{"unreadable", "The port is missing"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	serial, t := r.PathValue("serial"), s.terminal(r)
	if t == nil {
		return http.StatusNotFound, noTerminal
	}
	if known := s.known(r); known != nil {
		known.Calls++
		if known.Port != body.Port {
			return http.StatusConflict, elsewhere
		}
		return http.StatusOK, s.wire(*known)
	}
	switch {
	case !slices.Contains(t.Ports, body.Port):
		return http.StatusNotFound, noPort
	case !slices.Contains(t.Seen[body.Port], serial):
		return http.StatusUnprocessableEntity, notSeen
	case s.anywhere(serial):
		return http.StatusConflict, elsewhere
	}
	number, ok := s.free(t, body.Port)
	if !ok {
		return http.StatusConflict, full
	}
	made := ONU{
		Organization: t.Organization, OLT: t.Name, Port: body.Port, Serial: serial, Number: number, Calls: 1,
	}
	s.onus = append(s.onus, made)
	return http.StatusCreated, s.wire(made)
}

// setVLAN puts the service of an ONU into a VLAN that its terminal carries.
func (s *Simulator) setVLAN(r *http.Request) (int, any) {
	var body struct {
		VLAN int `json:"vlan"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return http.StatusBadRequest, refusal{"unreadable", "The VLAN is missing"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, known := s.terminal(r), s.known(r)
	switch {
	case t == nil:
		return http.StatusNotFound, noTerminal
	case known == nil:
		return http.StatusNotFound, noONU
	case !slices.Contains(t.VLANs, body.VLAN):
		return http.StatusUnprocessableEntity, noVLAN
	}
	known.Calls, known.VLAN = known.Calls+1, body.VLAN
	return http.StatusOK, s.wire(*known)
}

// read gives an ONU with its levels.
func (s *Simulator) read(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known := s.known(r); {
	case s.terminal(r) == nil:
		return http.StatusNotFound, noTerminal
	case known == nil:
		return http.StatusNotFound, noONU
	default:
		known.Calls++
		return http.StatusOK, s.wire(*known)
	}
}

// remove takes an ONU out.
func (s *Simulator) remove(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.terminal(r) == nil:
		return http.StatusNotFound, noTerminal
	case s.known(r) == nil:
		return http.StatusNotFound, noONU
	}
	s.onus = slices.DeleteFunc(s.onus, s.at(r))
	return http.StatusNoContent, nil
}

// terminal finds the one of a path, of that organization; nil without one. Called with the lock held, as all below.
func (s *Simulator) terminal(r *http.Request) *Terminal {
	for i := range s.terminals {
		if t := &s.terminals[i]; t.Organization == r.PathValue("org") && t.Name == r.PathValue("olt") {
			return t
		}
	}
	return nil
}

// at reports whether an ONU is the one of a path.
func (s *Simulator) at(r *http.Request) func(ONU) bool {
	return func(o ONU) bool {
		return o.Organization == r.PathValue("org") && o.OLT == r.PathValue("olt") && o.Serial == r.PathValue("serial")
	}
}

// known finds the registered ONU of a path, nil without one.
func (s *Simulator) known(r *http.Request) *ONU {
	if i := slices.IndexFunc(s.onus, s.at(r)); i >= 0 {
		return &s.onus[i]
	}
	return nil
}

// anywhere reports whether a serial is registered at any terminal.
func (s *Simulator) anywhere(serial string) bool {
	return slices.ContainsFunc(s.onus, func(o ONU) bool { return o.Serial == serial })
}

// free gives the lowest free number of a port.
func (s *Simulator) free(t *Terminal, port string) (int, bool) {
	for number := 1; number <= maxPerPort; number++ {
		if !slices.ContainsFunc(s.onus, func(o ONU) bool {
			return o.Organization == t.Organization && o.OLT == t.Name && o.Port == port && o.Number == number
		}) {
			return number, true
		}
	}
	return 0, false
}

// wire shows an ONU. Its levels follow from its serial: the same ONU always has the same ones. One whose fibre was
// taken away is offline.
func (s *Simulator) wire(o ONU) reading {
	out := reading{
		Serial: o.Serial, OLT: o.OLT, Port: o.Port, ONUID: o.Number, State: "offline", VLAN: o.VLAN,
	}
	i := slices.IndexFunc(s.terminals, func(t Terminal) bool {
		return t.Organization == o.Organization && t.Name == o.OLT
	})
	if i < 0 || !slices.Contains(s.terminals[i].Seen[o.Port], o.Serial) {
		return out
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(o.Serial))
	spread := float64(hash.Sum32()%100) / 10
	received, sent, atOLT := -15-spread, 2+spread/10, -16-spread
	out.State, out.Rx, out.Tx, out.AtOLT = "online", &received, &sent, &atOLT
	out.Distance = 200 + int(hash.Sum32()%9000)
	return out
}
