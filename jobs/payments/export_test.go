package paymentsjobs

// StrangerRoom is the room on the disk that callbacks of an address without a known token have, in octets.
func StrangerRoom(k *Kept, ip string) int64 {
	k.room.mu.Lock()
	defer k.room.mu.Unlock()
	return k.room.senders[ip]
}

// InheritedRoom is the room of callbacks that were on the disk before the start.
func InheritedRoom(k *Kept) int64 {
	k.room.mu.Lock()
	defer k.room.mu.Unlock()
	return k.room.known.Held(inherited)
}
