package router

import (
	"slices"
	"strconv"
	"strings"
)

// systemMenus has identity, resources, reboot, services and certificates.
func systemMenus() []menu {
	return []menu{
		{
			path: "system/resource", single: true, show: showResource,
			state: []string{
				"uptime", "version", "build-time", "factory-software", "free-memory", "total-memory", "cpu",
				"cpu-count", "cpu-frequency", "cpu-load", "free-hdd-space", "total-hdd-space",
				"write-sect-since-reboot", "write-sect-total", "bad-blocks", "architecture-name", "board-name",
				"platform",
			},
		},
		{path: "system/identity", single: true, props: []prop{text("name", "MikroTik")}},
		{path: "system", single: true, commands: []string{"reboot"}},
		{path: "system/note", single: true, props: []prop{yes("show-at-login"), text("note", blank)}},
		{
			path: "ip/service", named: true, closed: true,
			props: []prop{
				{name: "port", check: number(1, 65535)}, {name: "address", def: blank, check: prefixes}, onByDefault,
				{name: "certificate", check: usableCertificate, ref: "certificate"}, text("tls-version", ""),
				{name: "vrf", def: "main", since: v7},
				{name: "max-sessions", def: "20", since: 70100, check: number(1, 1000)},
			},
			state: []string{"name", "invalid", "proto", "local", "remote", "connection"},
			show:  func(_ *Router, w *row, out Item) { out["invalid"] = "false" }, guard: guardService,
		},
	}
}

// guardService refuses a port that another service has, and a certificate where none is used.
func guardService(r *Router, _, next *row) *Trap {
	for _, other := range r.tableOf("ip/service").rows {
		if other.name() != next.name() && other.props["port"] == next.props["port"] {
			return refuse("failure: port is used by another service")
		}
	}
	if next.props["certificate"] != "" && next.name() != serviceWWWSSL && next.name() != serviceAPISSL {
		return refuse("unknown parameter certificate")
	}
	return nil
}

// policyWords gives the policies that exist in a release.
func policyWords(v version) []string {
	words := []string{
		"local", "telnet", "ssh", "ftp", "reboot", "read", "write", "policy", "test", "winbox", "password", "web",
		"sniff", "sensitive", "api", "romon",
	}
	if v < v7 {
		return append(words, "dude", "tikapp")
	}
	return append(words, "rest-api")
}

// policies accepts a comma list of policies and stores the full list, with "!" before each that is denied.
func policies(r *Router, prop, value string) (string, *Trap) {
	words := policyWords(r.version)
	granted := map[string]bool{}
	for _, one := range splitList(value) {
		bare := strings.TrimPrefix(one, "!")
		if !slices.Contains(words, bare) {
			return "", mismatch(prop)
		}
		granted[bare] = bare == one
	}
	var yes, no []string
	for _, w := range words {
		if granted[w] {
			yes = append(yes, w)
		} else {
			no = append(no, "!"+w)
		}
	}
	return strings.Join(append(yes, no...), ","), nil
}

// splitList splits a comma list; an empty text has no parts.
func splitList(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// showResource gives hardware, release and load; the load varies with the writes.
func showResource(r *Router, _ *row, out Item) {
	channel := " (stable)"
	built := "2026-01-12 08:17:04"
	if r.version < v7ISODates {
		built = "Dec/04/2020 14:19:51"
	}
	load := uint64(3 + (r.seed+r.writes)%11)
	for name, value := range map[string]string{
		"uptime": span(r.uptime()), "version": r.cfg.Version + channel, "build-time": built,
		"factory-software": "6.45.9", "free-memory": strconv.FormatUint(r.memory-r.memory/3, 10),
		"total-memory": strconv.FormatUint(r.memory, 10), "cpu": "ARM64", "cpu-count": "4", "cpu-frequency": "1400",
		"cpu-load": strconv.FormatUint(load, 10), "free-hdd-space": "92979200", "total-hdd-space": "134217728",
		"write-sect-since-reboot": strconv.FormatUint(r.writes, 10),
		"write-sect-total":        strconv.FormatUint(91274+r.writes, 10),
		"bad-blocks":              "0", "architecture-name": "arm64",
		"board-name": r.cfg.Board, "platform": "MikroTik",
	} {
		out[name] = value
	}
}
