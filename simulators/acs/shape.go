package acs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Connection is a dialled connection of a device.
type Connection struct {
	At        string `json:"at"` // such as WANDevice.3.WANConnectionDevice.1.WANPPPConnection.6, below the root
	Username  string `json:"username"`
	Enabled   bool   `json:"enabled"`
	Connected bool   `json:"connected"`
	Type      string `json:"type"` // the ConnectionType of TR-098; "" = it tells none
}

// Network is a Wi-Fi network of a device on one radio.
type Network struct {
	At       string `json:"at"` // such as WiFi.SSID.3, below the root
	Name     string `json:"name"`
	Mark     string `json:"mark"` // the maker's parameter that is true for it, such as X_ACME_GuestNetwork; "" = none
	Disabled bool   `json:"disabled"`
}

// connect adds the dialled connections.
func (b *box) connect() {
	list := b.cfg.Connections
	if len(list) == 0 {
		at := fmt.Sprintf("PPP.Interface.%d", b.cfg.Dialled)
		if b.cfg.Root == rootTR098 {
			at = fmt.Sprintf("WANDevice.1.WANConnectionDevice.%d.WANPPPConnection.1", b.cfg.Dialled)
		}
		list = []Connection{{At: at}}
	}
	for _, c := range list {
		at, address := c.At+".", "IPCP.LocalIPAddress"
		if b.cfg.Root == rootTR098 {
			address = "ExternalIPAddress"
		}
		status := "Disconnected"
		if c.Connected {
			status = "Connected"
		}
		b.add(at+"Enable", c.Enabled, true)
		b.add(at+"Username", c.Username, true)
		b.secret(at+"Password", "")
		b.add(at+"ConnectionStatus", status, false)
		b.add(at+"LastConnectionError", "ERROR_NONE", false)
		b.add(at+address, "", false)
		if c.Type != "" {
			b.add(at+"ConnectionType", c.Type, true)
		}
		if b.cfg.MAC != "" && b.cfg.Root == rootTR098 {
			b.add(at+"MACAddress", b.cfg.MAC, false)
		}
	}
	if b.cfg.MAC != "" && b.cfg.Root == rootTR181 {
		b.add("Ethernet.Interface.1.MACAddress", b.cfg.MAC, false)
	}
}

// serve adds the Wi-Fi networks. By default there are two bands; in TR-098 the second one is number 5, and its key has
// another place.
func (b *box) serve(random *rand.Rand) {
	list := b.cfg.Networks
	if len(list) == 0 {
		at := []string{"WiFi.SSID.1", "WiFi.SSID.2"}
		if b.cfg.Root == rootTR098 {
			at = []string{"LANDevice.1.WLANConfiguration.1", "LANDevice.1.WLANConfiguration.5"}
		}
		list = []Network{{At: at[0]}, {At: at[1], Name: "Acme-" + tail(b.cfg.Serial) + "-5G"}}
	}
	for i, n := range list {
		b.add(n.At+".SSID", cmp.Or(n.Name, "Acme-"+tail(b.cfg.Serial)), true)
		b.add(n.At+".Enable", !n.Disabled, true)
		if n.Mark != "" {
			b.add(n.At+"."+n.Mark, true, true)
		}
		key := fmt.Sprintf("key-%08x", random.Uint32())
		if b.cfg.Root == rootTR098 {
			b.add(n.At+".TotalAssociations", float64(random.IntN(5)), false)
			b.secret(n.At+"."+[]string{"PreSharedKey.1.KeyPassphrase", "KeyPassphrase"}[i%2], key)
			b.secret(n.At+".PreSharedKey.1.PreSharedKey", "")
			continue
		}
		point := strings.Replace(n.At, "WiFi.SSID.", "WiFi.AccessPoint.", 1) + "."
		b.add(point+"SSIDReference", "Device."+n.At+".", false)
		b.add(point+"Security.ModeEnabled", "WPA2-Personal", true)
		b.secret(point+"Security.KeyPassphrase", key)
		b.add(point+"AssociatedDeviceNumberOfEntries", float64(random.IntN(5)), false)
	}
}
