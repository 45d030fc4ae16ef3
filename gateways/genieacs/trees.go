package genieacs

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Root is the first part of all paths of a device: it decides which of the two models its tree has.
type Root string

// The roots.
const (
	None  Root = ""                      // the device has not told its tree yet
	TR181 Root = "Device"                // the newer model
	TR098 Root = "InternetGatewayDevice" // the older one, of many optical terminals
)

// Diagnostic has the paths of one test. Fields are "" where a test has none such. Source:
// docs/facts/genieacs.md#diagnostics.
type Diagnostic struct {
	State                string // set to Requested last, in the same task
	URL, Host            string
	Length               string // of the file that is sent, in bytes
	Repetitions, Timeout string // the time-out is in milliseconds
	Began, Ended         string // instants of the first and the last byte
	Bytes                string // in the time between them
	Good, Bad            string // answered and lost pings
	Average, Least, Most string // milliseconds
}

// Results are the paths to read when a test has ended.
func (d Diagnostic) Results() []string {
	all := []string{d.State, d.Began, d.Ended, d.Bytes, d.Good, d.Bad, d.Average, d.Least, d.Most}
	return slices.DeleteFunc(all, func(p string) bool { return p == "" })
}

// Tree has the paths of one model that do not depend on what a device has. Source:
// docs/facts/genieacs.md#parameter-paths.
type Tree struct {
	Root                           Root
	Manufacturer, Model, Firmware  string
	Hardware, UpTime               string
	MemoryTotal, MemoryFree, CPU   string // kB, kB, percent
	InformEnable, InformInterval   string
	ConnectionRequestURL           string
	BytesSent, BytesReceived       string
	DownloadTest, UploadTest, Ping Diagnostic
}

// TreeOf gives the paths of a root; those of TR-181 for None.
func TreeOf(root Root) Tree {
	if root != TR098 {
		root = TR181
	}
	at := func(rest string) string { return string(root) + "." + rest }
	t := Tree{
		Root: root, Manufacturer: at("DeviceInfo.Manufacturer"), Model: at("DeviceInfo.ModelName"),
		Firmware: at("DeviceInfo.SoftwareVersion"), Hardware: at("DeviceInfo.HardwareVersion"),
		UpTime: at("DeviceInfo.UpTime"), MemoryTotal: at("DeviceInfo.MemoryStatus.Total"),
		MemoryFree: at("DeviceInfo.MemoryStatus.Free"), CPU: at("DeviceInfo.ProcessStatus.CPUUsage"),
		InformEnable:         at("ManagementServer.PeriodicInformEnable"),
		InformInterval:       at("ManagementServer.PeriodicInformInterval"),
		ConnectionRequestURL: at("ManagementServer.ConnectionRequestURL"),
	}
	tests := "IP.Diagnostics."
	ping := "IPPing"
	t.BytesSent, t.BytesReceived = at("IP.Interface.1.Stats.BytesSent"), at("IP.Interface.1.Stats.BytesReceived")
	if root == TR098 {
		tests, ping = "", "IPPingDiagnostics"
		wan := "WANDevice.1.WANCommonInterfaceConfig.TotalBytes"
		t.BytesSent, t.BytesReceived = at(wan+"Sent"), at(wan+"Received")
	}
	t.DownloadTest = transfer(at(tests+"DownloadDiagnostics."), "DownloadURL", "TestBytesReceived", "")
	t.UploadTest = transfer(at(tests+"UploadDiagnostics."), "UploadURL", "TotalBytesSent", "TestFileLength")
	p := at(tests + ping + ".")
	t.Ping = Diagnostic{
		State: p + "DiagnosticsState", Host: p + "Host", Repetitions: p + "NumberOfRepetitions", Timeout: p + "Timeout",
		Good: p + "SuccessCount", Bad: p + "FailureCount", Average: p + "AverageResponseTime",
		Least: p + "MinimumResponseTime", Most: p + "MaximumResponseTime",
	}
	return t
}

// transfer has the paths of a test that moves a file.
func transfer(prefix, url, bytes, length string) Diagnostic {
	d := Diagnostic{
		State: prefix + "DiagnosticsState", URL: prefix + url, Began: prefix + "BOMTime", Ended: prefix + "EOMTime",
		Bytes: prefix + bytes,
	}
	if length != "" {
		d.Length = prefix + length
	}
	return d
}

// Health are the paths that tell how a device is: for lists, and for what is read at each inform.
func (t Tree) Health() []string {
	return []string{
		t.Manufacturer, t.Model, t.Firmware, t.Hardware, t.UpTime, t.MemoryTotal, t.MemoryFree, t.CPU, t.BytesSent,
		t.BytesReceived,
	}
}

// HealthOfAll has the paths of Health of both models, for lists of devices of all kinds.
func HealthOfAll() []string { return append(TreeOf(TR181).Health(), TreeOf(TR098).Health()...) }

// Clients are the paths of the numbers of clients of all Wi-Fi networks that a device of a model may have.
func (t Tree) Clients() []string {
	var paths []string
	for _, b := range bandsOf(t.Root) {
		paths = append(paths, b.Clients)
	}
	return paths
}

// Band is a Wi-Fi network that a device sends.
type Band struct {
	Index int
	SSID  string   // path of the name
	Name  string   // its present name, as far as the server knows
	Keys  []string // paths of its key, one of which counts: set all of them. Their values are never read.
	// Clients is the path of the number of its clients; Associated is the present one, -1 when it is not known.
	Clients    string
	Associated int
}

// PPPoE is a dialled connection of a device.
type PPPoE struct {
	Username, Password, Enable string // paths; the password's value is never read
	Status, Address            string
	LoggedInAs                 string // the present user name, as far as the server knows
}

// Layout has the networks and connections of a device, as far as the server has seen its tree: the
// bootstrap provision has it look.
type Layout struct {
	Root  Root
	Bands []Band
	PPPoE []PPPoE
}

// How many instances are looked for. The numbers of instances of devices have gaps: 5 GHz often begins at 5 or 9.
const (
	maxBands       = 12
	maxPPP         = 4
	maxConnections = 8
)

// Layout finds the Wi-Fi networks and the dialled connections of a device. Fails: ErrUnknownDevice.
func (s *Server) Layout(ctx context.Context, id DeviceID) (Layout, error) {
	device, err := s.Device(ctx, id)
	if err != nil {
		return Layout{}, err
	}
	out := Layout{Root: device.Root}
	if device.Root == None {
		return out, nil
	}
	bands, dialled := bandsOf(device.Root), dialledOf(device.Root)
	paths := []string{}
	for _, b := range bands {
		paths = append(append(paths, b.SSID, b.Clients), b.Keys...)
		if device.Root == TR181 {
			paths = append(paths, reference(b.Index))
		}
	}
	for _, p := range dialled {
		paths = append(paths, p.Username, p.Password, p.Enable)
	}
	if device, err = s.Device(ctx, id, paths...); err != nil {
		return Layout{}, err
	}
	out.Bands = present(device.Root, bands, device.Values)
	for _, p := range dialled {
		name, has := device.Values[p.Username]
		if _, secret := device.Values[p.Password]; has || secret {
			p.LoggedInAs = name.Text()
			out.PPPoE = append(out.PPPoE, p)
		}
	}
	return out, nil
}

// reference is the path that names the network of an access point.
func reference(i int) string { return fmt.Sprintf("Device.WiFi.AccessPoint.%d.SSIDReference", i) }

// bandsOf are the networks that a device may have.
func bandsOf(root Root) []Band {
	out := []Band{}
	for i := 1; i <= maxBands; i++ {
		b := Band{Index: i, Associated: -1}
		if root == TR181 {
			point := fmt.Sprintf("Device.WiFi.AccessPoint.%d.", i)
			b.SSID = fmt.Sprintf("Device.WiFi.SSID.%d.SSID", i)
			b.Keys = []string{point + "Security.KeyPassphrase"}
			b.Clients = point + "AssociatedDeviceNumberOfEntries"
		} else {
			lan := fmt.Sprintf("InternetGatewayDevice.LANDevice.1.WLANConfiguration.%d.", i)
			b.SSID = lan + "SSID"
			b.Keys = []string{
				lan + "KeyPassphrase", lan + "PreSharedKey.1.KeyPassphrase", lan + "PreSharedKey.1.PreSharedKey",
			}
			b.Clients = lan + "TotalAssociations"
		}
		out = append(out, b)
	}
	return out
}

// present keeps the networks that exist. An access point may name a network of another number.
func present(root Root, all []Band, values map[string]Value) []Band {
	named := map[int]int{} // access point by network
	for _, b := range all {
		var n int
		text := values[reference(b.Index)].Text()
		if _, err := fmt.Sscanf(strings.TrimSuffix(text, "."), "Device.WiFi.SSID.%d", &n); err == nil && root == TR181 {
			if _, taken := named[n]; !taken {
				named[n] = b.Index
			}
		}
	}
	out := []Band{}
	for _, b := range all {
		name, has := values[b.SSID]
		if !has {
			continue
		}
		b.Name = name.Text()
		if at, ok := named[b.Index]; ok && at >= 1 && at <= len(all) {
			b.Keys, b.Clients = all[at-1].Keys, all[at-1].Clients
		}
		b.Keys = keysOf(b, values)
		if text := values[b.Clients].Text(); text != "" {
			if _, err := fmt.Sscan(text, &b.Associated); err != nil {
				b.Associated = -1
			}
		}
		out = append(out, b)
	}
	return out
}

// keysOf keeps the places of a network's key that the device has. PreSharedKey takes a key of 64 hexadecimal digits, by
// TR-098, and a passphrase only on devices that have no other place: a strict one would refuse the whole write.
func keysOf(b Band, values map[string]Value) []string {
	var keys, digits []string
	for _, p := range b.Keys {
		_, has := values[p]
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

// dialledOf are the dialled connections that a device may have.
func dialledOf(root Root) []PPPoE {
	out := []PPPoE{}
	add := func(prefix, status, address string) {
		out = append(out, PPPoE{
			Username: prefix + "Username", Password: prefix + "Password", Enable: prefix + "Enable",
			Status: prefix + status, Address: prefix + address,
		})
	}
	for i := 1; i <= maxPPP; i++ {
		if root == TR181 {
			add(fmt.Sprintf("Device.PPP.Interface.%d.", i), "ConnectionStatus", "IPCP.LocalIPAddress")
		}
	}
	for c := 1; root == TR098 && c <= maxConnections; c++ {
		for i := 1; i <= maxPPP; i++ {
			add(fmt.Sprintf("InternetGatewayDevice.WANDevice.1.WANConnectionDevice.%d.WANPPPConnection.%d.", c, i),
				"ConnectionStatus", "ExternalIPAddress")
		}
	}
	return out
}
