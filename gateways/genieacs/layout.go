package genieacs

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// NetworkKind says what a Wi-Fi network is for.
type NetworkKind string

// The kinds of networks. A change of the Wi-Fi is written to the main network alone, unless others are named.
const (
	MainNetwork     NetworkKind = "main"     // the customer's own: all bands that share its name
	GuestNetwork    NetworkKind = "guest"    // the device marks it so
	BackhaulNetwork NetworkKind = "backhaul" // the device marks it as the link between its access points
	OtherNetwork    NetworkKind = "other"
)

// Band is one Wi-Fi network of a device on one radio.
type Band struct {
	Path string // of the instance that has the name
	Kind NetworkKind
	// Enabled is false only where the device says so.
	Enabled bool
	SSID    string   // path of the name
	Name    string   // its present name, as far as the server knows
	Keys    []string // paths of its key, one of which counts: set all of them. Their values are never read.
	// Clients is the path of the number of its clients; Associated is the present one, -1 when it is not known.
	Clients    string
	Associated int
}

// PPPoE is a dialled connection of a device.
type PPPoE struct {
	Username, Password, Enable string // paths; the password's value is never read
	Status, Address            string
	LoggedInAs                 string // the present user name, as far as the server knows
	// Enabled and Connected are as far as the server knows. A bridged connection only passes frames on.
	Enabled, Connected, Bridged bool
}

// Layout has the networks and connections of a device, as far as the server has seen its tree: the look provision has
// it look.
type Layout struct {
	Root  Root
	Bands []Band  // in the order of their numbers
	PPPoE []PPPoE // the one that a login belongs to comes first
}

// maxInstances bounds the instances of one object that are looked at. A device has a few, and whatever calls the server
// may say that it has thousands.
const maxInstances = 64

// layoutObjects are the objects that hold networks and connections. They are read whole, because the numbers of their
// instances are known only to the device; secrets in them are dropped by leaf.
func layoutObjects(root Root) []string {
	if root == TR098 {
		return []string{"InternetGatewayDevice.LANDevice", "InternetGatewayDevice.WANDevice"}
	}
	return []string{"Device.WiFi.SSID", "Device.WiFi.AccessPoint", "Device.PPP.Interface"}
}

// Layout finds the Wi-Fi networks and the dialled connections of a device by the instances that it has told of,
// whatever their numbers. Fails: ErrUnknownDevice.
func (s *Server) Layout(ctx context.Context, id DeviceID) (Layout, error) {
	device, err := s.Device(ctx, id)
	if err != nil || device.Root == None {
		return Layout{Root: device.Root}, err
	}
	fields := append(slices.Clone(heads), layoutObjects(device.Root)...)
	out, found := Layout{Root: device.Root}, false
	_, err = list(ctx, s, "read_layout", selection{
		collection: "devices", query: map[string]any{"_id": id}, fields: fields, limit: 2,
	}, func(d document) error {
		if d.device(nil).ID == id {
			seen := seenTree{string(device.Root): d.tree(string(device.Root))}
			out.Bands, out.PPPoE, found = seen.bands(device.Root), seen.connections(device.Root), true
		}
		return nil
	})
	if err == nil && !found {
		err = ErrUnknownDevice
	}
	return out, err
}

// seenTree is the part of a device's tree that was read, below its root.
type seenTree map[string]any

// instances gives the paths of the instances of an object, each with a dot at its end, by their numbers.
func (t seenTree) instances(object string) []string {
	node := map[string]any(t)
	for _, part := range strings.Split(object, ".") {
		node, _ = node[part].(map[string]any) // nil when it is not there: then nothing is below it
	}
	var numbers []int
	for name := range node {
		if n, err := strconv.Atoi(name); err == nil && n > 0 && strconv.Itoa(n) == name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	paths := make([]string, 0, len(numbers))
	for _, n := range numbers[:min(len(numbers), maxInstances)] {
		paths = append(paths, object+"."+strconv.Itoa(n)+".")
	}
	return paths
}

// below gives the paths of the instances of an object in each of some instances.
func (t seenTree) below(parents []string, object string) []string {
	var paths []string
	for _, parent := range parents {
		if len(paths) < maxInstances {
			paths = append(paths, t.instances(parent+object)...)
		}
	}
	return paths[:min(len(paths), maxInstances)]
}

// value gives a parameter that is known; a secret never has a value.
func (t seenTree) value(path string) (Value, bool) { return leaf(t, path) }

// flag reports whether a parameter is true, or is not known and taken for it.
func (t seenTree) flag(path string, unknown bool) bool {
	v, has := t.value(path)
	if !has || v.Text() == "" {
		return unknown
	}
	truth, err := strconv.ParseBool(v.Text())
	return err == nil && truth
}

// connections finds the dialled connections, the preferred one first.
func (t seenTree) connections(root Root) []PPPoE {
	paths, status, address := t.instances("Device.PPP.Interface"), "ConnectionStatus", "IPCP.LocalIPAddress"
	if root == TR098 {
		holders := t.below(t.instances("InternetGatewayDevice.WANDevice"), "WANConnectionDevice")
		paths, address = t.below(holders, "WANPPPConnection"), "ExternalIPAddress"
	}
	var out []PPPoE
	for _, at := range paths {
		one := PPPoE{
			Username: at + "Username", Password: at + "Password", Enable: at + "Enable", Status: at + status,
			Address: at + address,
		}
		name, has := t.value(one.Username)
		if _, secret := t.value(one.Password); !has && !secret {
			continue
		}
		state, _ := t.value(one.Status)
		kind, _ := t.value(at + "ConnectionType")
		one.LoggedInAs, one.Enabled, one.Connected = name.Text(), t.flag(one.Enable, false), state.Text() == "Connected"
		one.Bridged = strings.HasSuffix(kind.Text(), "Bridged")
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b PPPoE) int { return cmp.Compare(b.rank(), a.rank()) })
	return out
}

// rank is higher for the connection that more likely is the customer's: one in use, then one that is switched on, then
// one with a username. Our script for identification chooses alike (own/common.js).
func (p PPPoE) rank() int {
	rank := 0
	for _, fact := range []bool{!p.Bridged, p.Connected, p.Enabled, p.LoggedInAs != ""} {
		rank *= 2
		if fact {
			rank++
		}
	}
	return rank
}

// Line gives the connection for a login: the one that has a login of the platform already, as mine tells by its
// username, or else the preferred one. False when the device has told of none.
func (l Layout) Line(mine func(username string) bool) (PPPoE, bool) {
	for _, one := range l.PPPoE {
		if one.LoggedInAs != "" && mine(one.LoggedInAs) {
			return one, true
		}
	}
	if len(l.PPPoE) == 0 {
		return PPPoE{}, false
	}
	return l.PPPoE[0], true
}

// bands finds the Wi-Fi networks, and which of them are the main one.
func (t seenTree) bands(root Root) []Band {
	var out []Band
	if root == TR098 {
		for _, at := range t.below(t.instances("InternetGatewayDevice.LANDevice"), "WLANConfiguration") {
			out = t.band(out, at, at, []string{
				at + "KeyPassphrase", at + "PreSharedKey.1.KeyPassphrase", at + "PreSharedKey.1.PreSharedKey",
			}, at+"TotalAssociations")
		}
		return markMainNetwork(out)
	}
	points := map[string]string{} // access points by the network that they name, or that has their number
	for _, point := range t.instances("Device.WiFi.AccessPoint") {
		of := "Device.WiFi.SSID." + strings.TrimPrefix(point, "Device.WiFi.AccessPoint.")
		if v, _ := t.value(point + "SSIDReference"); v.Text() != "" {
			of = strings.TrimSuffix(v.Text(), ".") + "."
		}
		if _, taken := points[of]; !taken {
			points[of] = point
		}
	}
	for _, at := range t.instances("Device.WiFi.SSID") {
		point := points[at] // "" for one that no access point serves
		out = t.band(out, at, point, []string{point + "Security.KeyPassphrase"},
			point+"AssociatedDeviceNumberOfEntries")
	}
	return markMainNetwork(out)
}

// band adds the network at a path, if it has a name. Its access point is where the device may mark it, too.
func (t seenTree) band(all []Band, at, point string, keys []string, clients string) []Band {
	name, has := t.value(at + "SSID")
	if !has {
		return all
	}
	b := Band{
		Path: strings.TrimSuffix(at, "."), SSID: at + "SSID", Name: name.Text(), Enabled: t.flag(at+"Enable", true),
		Keys: t.keys(keys), Clients: clients, Associated: -1, Kind: OtherNetwork,
	}
	for _, instance := range []string{at, point} {
		if instance == "" {
			continue
		}
		if kind := t.marked(instance); kind != OtherNetwork {
			b.Kind = kind
		}
	}
	if v, _ := t.value(clients); v.Text() != "" {
		if n, err := strconv.Atoi(v.Text()); err == nil {
			b.Associated = n
		}
	}
	return append(all, b)
}

// marked reads the device's own marking of a network. Makers name such a parameter in their own ways, and all of them
// have one of two words in it. A network that clients use as well is no mere backhaul.
func (t seenTree) marked(instance string) NetworkKind {
	node := map[string]any(t)
	for _, part := range strings.Split(strings.TrimSuffix(instance, "."), ".") {
		node, _ = node[part].(map[string]any)
	}
	guest, back, front := false, false, false
	for name := range node {
		lower := strings.ToLower(name)
		if IsSecret(name) || !t.flag(instance+name, false) {
			continue
		}
		guest = guest || strings.Contains(lower, "guest")
		back = back || strings.Contains(lower, "backhaul")
		front = front || strings.Contains(lower, "fronthaul")
	}
	switch {
	case guest:
		return GuestNetwork
	case back && !front:
		return BackhaulNetwork
	}
	return OtherNetwork
}

// keys keeps the places of a network's key that the device has. PreSharedKey takes a key of 64 hexadecimal digits, by
// TR-098, and a passphrase only on devices that have no other place: a strict one would refuse the whole write.
func (t seenTree) keys(places []string) []string {
	var keys, digits []string
	for _, p := range places {
		_, has := t.value(p)
		switch {
		case has && strings.HasSuffix(p, ".PreSharedKey"):
			digits = append(digits, p)
		case has:
			keys = append(keys, p)
		}
	}
	if len(keys) == 0 {
		return digits
	}
	return keys
}

// bandForm matches what makers put behind a name to tell its bands apart, such as -5G, _2.4GHz or " (6 GHz)".
var bandForm = regexp.MustCompile(`(?i)[\s._(-]*(?:2[.,]?4|2|5|6)\s*g(?:hz)?\)?$`)

// baseName is the name that the bands of one network share; "" when the network has none.
func baseName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if base := bandForm.ReplaceAllString(name, ""); base != "" {
		return base
	}
	return name
}

// markMainNetwork marks the bands of the main network: of those that the device does not mark as something else, the
// first that is switched on, and all that share its name.
func markMainNetwork(all []Band) []Band {
	main := -1
	for i, b := range all {
		if b.Kind == OtherNetwork && b.Name != "" && (main < 0 || b.Enabled && !all[main].Enabled) {
			main = i
		}
	}
	if main < 0 {
		return all
	}
	base := baseName(all[main].Name)
	for i, b := range all {
		if b.Kind == OtherNetwork && baseName(b.Name) == base {
			all[i].Kind = MainNetwork
		}
	}
	return all
}
