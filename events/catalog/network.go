package catalog

// networkUpcasters convert the first versions of events about the bootstrap script. They do not tell which RADIUS
// secret the script has: it stays unknown.
func networkUpcasters() []Upcaster {
	var list []Upcaster
	for _, name := range []string{"DeviceBootstrapShown", "DeviceBootstrapReported"} {
		list = append(list, Upcaster{From: "network." + name + ".v1", To: "network." + name + ".v2", Up: unchanged})
	}
	return list
}
