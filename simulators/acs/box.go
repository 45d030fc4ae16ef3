package acs

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The roots of the two trees.
const (
	rootTR181 = "Device"
	rootTR098 = "InternetGatewayDevice"
)

// DeviceConfig describes a device. Serial is needed; the rest has defaults.
type DeviceConfig struct {
	Root         string `json:"root"` // Device or InternetGatewayDevice; Device when empty
	Manufacturer string `json:"manufacturer"`
	OUI          string `json:"oui"`
	ProductClass string `json:"productClass"`
	NoClass      bool   `json:"noClass"` // the device has no product class: its id has two parts
	Serial       string `json:"serialNumber"`
	Model        string `json:"model"`
	Firmware     string `json:"firmware"`
	// Off leaves it without power; it informs first when it is switched on.
	Off bool `json:"off"`
	// NAT puts it behind address translation: connection requests do not reach it.
	NAT bool `json:"nat"`
	// Dialled is the number of its dialled connection, or in TR-098 of what holds it; 1 when it is 0.
	Dialled int `json:"dialled"`
	// Connections are its dialled connections; one with the number Dialled when empty.
	Connections []Connection `json:"connections,omitempty"`
	// Networks are its Wi-Fi networks; two bands of one network when empty.
	Networks []Network `json:"networks,omitempty"`
	// Address is the host at which it takes connection requests; 127.0.0.1 when empty.
	Address string `json:"address,omitempty"`
	// MAC is the hardware address of its uplink; it tells none when empty.
	MAC string `json:"mac,omitempty"`
}

// withDefaults fills what is empty.
func (c DeviceConfig) withDefaults() DeviceConfig {
	c.Root = cmp.Or(c.Root, rootTR181)
	c.Manufacturer = cmp.Or(c.Manufacturer, "Acme")
	c.OUI = cmp.Or(c.OUI, "00D09E")
	c.Model = cmp.Or(c.Model, map[string]string{rootTR181: "HomeBox 2", rootTR098: "HG-8"}[c.Root])
	if !c.NoClass {
		c.ProductClass = cmp.Or(c.ProductClass, map[string]string{rootTR181: "HomeBox-2", rootTR098: "HG8"}[c.Root])
	}
	c.Firmware = cmp.Or(c.Firmware, "1.0.0")
	c.Dialled = cmp.Or(c.Dialled, 1)
	c.Address = cmp.Or(c.Address, "127.0.0.1")
	return c
}

// param is a parameter of a device.
type param struct {
	value    any // string, bool, float64 or time.Time
	kind     string
	writable bool
	secret   bool // it reads as an empty text
}

// box is a device itself: its parameters, and what makes some of them move.
type box struct {
	cfg    DeviceConfig
	params map[string]*param
	booted time.Time
	rate   float64 // bytes a second
	// testing has the prefixes of tests under way.
	testing map[string]bool
}

// Types of values.
const (
	typeText  = "xsd:string"
	typeBool  = "xsd:boolean"
	typeCount = "xsd:unsignedInt"
	typeTime  = "xsd:dateTime"
)

// newBox makes a device with factory settings. The random source gives its keys and counters.
func newBox(cfg DeviceConfig, random *rand.Rand, now time.Time) *box {
	b := &box{
		cfg: cfg, params: map[string]*param{}, booted: now, rate: 1000 + float64(random.IntN(100_000)),
		testing: map[string]bool{},
	}
	for path, value := range map[string]any{
		"DeviceInfo.Manufacturer": cfg.Manufacturer, "DeviceInfo.ManufacturerOUI": cfg.OUI,
		"DeviceInfo.ModelName": cfg.Model, "DeviceInfo.ProductClass": cfg.ProductClass,
		"DeviceInfo.SerialNumber": cfg.Serial, "DeviceInfo.HardwareVersion": "A1",
		"DeviceInfo.SoftwareVersion": cfg.Firmware, "DeviceInfo.UpTime": 0.0,
		"DeviceInfo.MemoryStatus.Total":     262144.0,
		"DeviceInfo.MemoryStatus.Free":      65536.0 + float64(random.IntN(65536)),
		"DeviceInfo.ProcessStatus.CPUUsage": float64(random.IntN(60)), "ManagementServer.ParameterKey": "",
		"ManagementServer.ConnectionRequestURL": "http://" + net.JoinHostPort(cfg.Address, "7548") + "/" +
			strconv.FormatUint(random.Uint64(), 36),
	} {
		b.add(path, value, false)
	}
	for path, value := range map[string]any{
		"DeviceInfo.ProvisioningCode": "", "ManagementServer.URL": "http://acs.invalid:7547/",
		"ManagementServer.Username":             "",
		"ManagementServer.PeriodicInformEnable": true, "ManagementServer.PeriodicInformInterval": 86400.0,
		"ManagementServer.ConnectionRequestUsername": "", "Time.NTPServer1": "pool.invalid",
	} {
		b.add(path, value, true)
	}
	b.secret("ManagementServer.ConnectionRequestPassword", "")
	b.secret("ManagementServer.Password", "")
	b.clientsOf(random)
	b.connect()
	b.serve(random)
	if cfg.Root == rootTR181 {
		b.newer()
	} else {
		b.older()
	}
	return b
}

// add puts a parameter below the root.
func (b *box) add(path string, value any, writable bool) {
	kind := typeText
	switch value.(type) {
	case bool:
		kind = typeBool
	case float64:
		kind = typeCount
	case time.Time:
		kind = typeTime
	}
	b.params[b.cfg.Root+"."+path] = &param{value: value, kind: kind, writable: writable}
}

// secret puts a parameter that can be set and not read.
func (b *box) secret(path, value string) {
	b.params[b.cfg.Root+"."+path] = &param{value: value, kind: typeText, writable: true, secret: true}
}

// clientsOf adds the devices behind a device.
func (b *box) clientsOf(random *rand.Rand) {
	prefix, mac := "Hosts.", "PhysAddress"
	if b.cfg.Root == rootTR098 {
		prefix, mac = "LANDevice.1.Hosts.", "MACAddress"
	}
	n := 1 + random.IntN(3)
	b.add(prefix+"HostNumberOfEntries", float64(n), false)
	for i := 1; i <= n; i++ {
		host := fmt.Sprintf("%sHost.%d.", prefix, i)
		b.add(host+"HostName", fmt.Sprintf("phone-%d", i), false)
		b.add(host+"IPAddress", fmt.Sprintf("192.168.1.%d", 10+i), false)
		b.add(host+mac, fmt.Sprintf("02:00:00:00:%02x:%02x", random.IntN(256), i), false)
		b.add(host+"Active", true, false)
	}
}

// newer adds what the tree of TR-181 alone has.
func (b *box) newer() {
	b.add("IP.Interface.1.IPv4Address.1.IPAddress", "10.20.0.2", false)
	b.add("IP.Interface.1.Stats.BytesSent", 0.0, false)
	b.add("IP.Interface.1.Stats.BytesReceived", 0.0, false)
	b.tests("IP.Diagnostics.", "IPPing")
}

// older adds what the tree of TR-098 alone has.
func (b *box) older() {
	wan := "WANDevice.1.WANConnectionDevice."
	b.add(wan+"1.WANIPConnection.1.ExternalIPAddress", "10.20.0.3", false)
	b.add("WANDevice.1.WANCommonInterfaceConfig.TotalBytesSent", 0.0, false)
	b.add("WANDevice.1.WANCommonInterfaceConfig.TotalBytesReceived", 0.0, false)
	b.tests("", "IPPingDiagnostics")
}

// tests adds the diagnostics.
func (b *box) tests(prefix, ping string) {
	for test, in := range map[string][]string{
		"DownloadDiagnostics": {"DownloadURL", "Interface"}, "UploadDiagnostics": {"UploadURL", "Interface"},
		ping: {"Host", "Interface"},
	} {
		b.add(prefix+test+".DiagnosticsState", "None", true)
		for _, name := range in {
			b.add(prefix+test+"."+name, "", true)
		}
	}
	for _, name := range []string{"NumberOfRepetitions", "Timeout", "DataBlockSize", "DSCP"} {
		b.add(prefix+ping+"."+name, 1.0, true)
	}
	b.add(prefix+"UploadDiagnostics.TestFileLength", 0.0, true)
	for _, name := range []string{
		"SuccessCount", "FailureCount", "AverageResponseTime", "MinimumResponseTime", "MaximumResponseTime",
	} {
		b.add(prefix+ping+"."+name, 0.0, false)
	}
	for test, counts := range map[string][]string{
		"DownloadDiagnostics": {"TestBytesReceived", "TotalBytesReceived"}, "UploadDiagnostics": {"TotalBytesSent"},
	} {
		for _, name := range []string{"ROMTime", "BOMTime", "EOMTime", "TCPOpenRequestTime", "TCPOpenResponseTime"} {
			b.add(prefix+test+"."+name, time.Unix(0, 0).UTC(), false)
		}
		for _, name := range counts {
			b.add(prefix+test+"."+name, 0.0, false)
		}
	}
}

// tail is the end of a serial number, as makers print it into names.
func tail(serial string) string { return serial[max(0, len(serial)-4):] }

// carried are the parameters that each inform brings.
func (b *box) carried() []string {
	out := []string{}
	for _, p := range []string{
		"DeviceInfo.HardwareVersion", "DeviceInfo.SoftwareVersion", "DeviceInfo.ProvisioningCode",
		"ManagementServer.ParameterKey", "ManagementServer.ConnectionRequestURL",
		"WANDevice.1.WANConnectionDevice.1.WANIPConnection.1.ExternalIPAddress",
	} {
		if _, ok := b.params[b.cfg.Root+"."+p]; ok {
			out = append(out, b.cfg.Root+"."+p)
		}
	}
	return out
}

// read gives a parameter's value now. Secrets read as empty.
func (b *box) read(path string, now time.Time) (any, bool) {
	p, ok := b.params[path]
	if !ok {
		return nil, false
	}
	up := math.Floor(max(now.Sub(b.booted).Seconds(), 0))
	switch {
	case p.secret:
		return "", true
	case strings.HasSuffix(path, ".DeviceInfo.UpTime"):
		return up, true
	case strings.HasSuffix(path, "BytesSent") && !strings.Contains(path, "Diagnostics"):
		return math.Floor(up * b.rate / 10), true
	case strings.HasSuffix(path, "BytesReceived") && !strings.Contains(path, "Diagnostics"):
		return math.Floor(up * b.rate), true
	}
	return p.value, true
}

// dialled matches the settings of a dialled connection.
var dialled = regexp.MustCompile(`^(.*\.(?:PPP\.Interface|WANPPPConnection)\.\d+\.)(?:Enable|Username|Password)$`)

// write sets a parameter and gives what the device makes of it.
func (b *box) write(path string, value any) {
	b.params[path].value = value
	if m := dialled.FindStringSubmatch(path); m != nil {
		status := b.params[m[1]+"ConnectionStatus"]
		status.value = "Disconnected"
		if b.params[m[1]+"Enable"].value == true && b.params[m[1]+"Username"].value != "" {
			status.value = "Connected"
		}
	}
}

// coerce makes a value one of a type, as the server does; false when it cannot.
func coerce(value any, kind string) (any, bool) {
	if n, ok := value.(int64); ok { // a script's number
		value = float64(n)
	}
	switch kind {
	case typeBool:
		switch v := value.(type) {
		case bool:
			return v, true
		case float64:
			return v != 0, true
		case string:
			b, err := strconv.ParseBool(v)
			return b, err == nil
		}
		return nil, false
	case typeCount:
		switch v := value.(type) {
		case bool:
			return map[bool]float64{true: 1}[v], true
		case float64:
			return math.Trunc(v), v >= 0
		case string:
			n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 32)
			return float64(n), err == nil
		}
		return nil, false
	case typeTime:
		at, ok := value.(time.Time)
		return at, ok
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return nil, false
}

// below gives the paths of all parameters at or below a path, sorted; "" is everything.
func (b *box) below(path string) []string {
	out := []string{}
	for p := range b.params {
		if path == "" || p == path || strings.HasPrefix(p, path+".") {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// matching gives the paths that a pattern with * as whole parts means, sorted.
func (b *box) matching(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		if _, ok := b.params[pattern]; ok {
			return []string{pattern}
		}
		return nil
	}
	out := []string{}
	for p := range b.params {
		if fitsPattern(p, pattern) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// fitsPattern compares a path with a pattern, part by part.
func fitsPattern(path, pattern string) bool {
	a, b := strings.Split(path, "."), strings.Split(pattern, ".")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if b[i] != "*" && a[i] != b[i] {
			return false
		}
	}
	return true
}

// addInstance makes an instance of an object beside the present ones, like the last of them and with empty texts. It
// gives the number; 0 for what has no instances.
func (b *box) addInstance(object string) int {
	last := 0
	for _, p := range b.below(object) {
		number, _, _ := strings.Cut(strings.TrimPrefix(p, object+"."), ".")
		if n, err := strconv.Atoi(number); err == nil {
			last = max(last, n)
		}
	}
	if last == 0 {
		return 0
	}
	model, made := fmt.Sprintf("%s.%d", object, last), fmt.Sprintf("%s.%d", object, last+1)
	for _, p := range b.below(model) {
		one := *b.params[p]
		if one.kind == typeText {
			one.value = ""
		}
		b.params[made+strings.TrimPrefix(p, model)] = &one
	}
	return last + 1
}
