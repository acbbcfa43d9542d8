package faultinject

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// call is a system call that changes files: where its arguments name them.
type call struct {
	name string
	// files are arguments that are descriptors of what is changed; paths are pairs of a folder's descriptor (-1 for the
	// working folder) and a path.
	files []int
	paths [][2]int
	// flags is the argument with the flags of open; only those calls have it that open a file.
	flags int
	// frees says that the call takes no space on the disk, sync that it changes nothing, and bytes that the third argument is
	// the number of bytes to write.
	frees, sync, bytes bool
}

// calls are those that every architecture has.
var calls = map[uint64]*call{
	unix.SYS_WRITE:           {name: "write", files: []int{0}, bytes: true},
	unix.SYS_PWRITE64:        {name: "pwrite64", files: []int{0}, bytes: true},
	unix.SYS_WRITEV:          {name: "writev", files: []int{0}},
	unix.SYS_PWRITEV:         {name: "pwritev", files: []int{0}},
	unix.SYS_PWRITEV2:        {name: "pwritev2", files: []int{0}},
	unix.SYS_SENDFILE:        {name: "sendfile", files: []int{0}},
	unix.SYS_COPY_FILE_RANGE: {name: "copy_file_range", files: []int{2}},
	unix.SYS_SPLICE:          {name: "splice", files: []int{2}},
	unix.SYS_FALLOCATE:       {name: "fallocate", files: []int{0}},
	unix.SYS_FTRUNCATE:       {name: "ftruncate", files: []int{0}, frees: true},
	unix.SYS_TRUNCATE:        {name: "truncate", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_FSYNC:           {name: "fsync", files: []int{0}, sync: true},
	unix.SYS_FDATASYNC:       {name: "fdatasync", files: []int{0}, sync: true},
	unix.SYS_OPENAT:          {name: "openat", paths: [][2]int{{0, 1}}, flags: 2},
	unix.SYS_OPENAT2:         {name: "openat2", paths: [][2]int{{0, 1}}, flags: 2},
	unix.SYS_MKDIRAT:         {name: "mkdirat", paths: [][2]int{{0, 1}}},
	unix.SYS_MKNODAT:         {name: "mknodat", paths: [][2]int{{0, 1}}},
	unix.SYS_RENAMEAT:        {name: "renameat", paths: [][2]int{{2, 3}, {0, 1}}},
	unix.SYS_RENAMEAT2:       {name: "renameat2", paths: [][2]int{{2, 3}, {0, 1}}},
	unix.SYS_LINKAT:          {name: "linkat", paths: [][2]int{{2, 3}}},
	unix.SYS_SYMLINKAT:       {name: "symlinkat", paths: [][2]int{{1, 2}}},
	unix.SYS_UNLINKAT:        {name: "unlinkat", paths: [][2]int{{0, 1}}, frees: true},
	unix.SYS_FCHMOD:          {name: "fchmod", files: []int{0}, frees: true},
	unix.SYS_FCHMODAT:        {name: "fchmodat", paths: [][2]int{{0, 1}}, frees: true},
	unix.SYS_FCHMODAT2:       {name: "fchmodat2", paths: [][2]int{{0, 1}}, frees: true},
	unix.SYS_FCHOWN:          {name: "fchown", files: []int{0}, frees: true},
	unix.SYS_FCHOWNAT:        {name: "fchownat", paths: [][2]int{{0, 1}}, frees: true},
	unix.SYS_UTIMENSAT:       {name: "utimensat", paths: [][2]int{{0, 1}}, frees: true},
}

// change returns the call that a thread is about to make, and the path of what it would change, if that is one of those
// that count.
func (t *tracer) change(tid int, number uint64, args *[6]uint64) (c *call, path string) {
	c = calls[number]
	if c == nil {
		c = olderCalls[number]
	}
	if c == nil || c.flags > 0 && !opensToWrite(tid, number, args[c.flags]) {
		return nil, ""
	}
	for _, i := range c.files {
		// Pipes and sockets have names such as "pipe:[7]", which are in no folder.
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(args[i]))); err == nil && t.counts(path) {
			return c, path
		}
	}
	for _, pair := range c.paths {
		folder := int32(unix.AT_FDCWD)
		if pair[0] >= 0 {
			folder = int32(args[pair[0]])
		}
		if path, ok := resolve(tid, folder, args[pair[1]]); ok && t.counts(path) {
			return c, path
		}
	}
	return nil, ""
}

func (t *tracer) counts(path string) bool {
	for _, folder := range t.fault.In {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// grows says whether the call needs space on the disk.
func (c *call) grows(path string) bool {
	if c.flags > 0 { // only a new file does
		_, err := os.Lstat(path)
		return err != nil
	}
	return !c.frees
}

// opensToWrite reads the flags of open. Those of openat2 stand at the beginning of a struct.
func opensToWrite(tid int, number, flags uint64) bool {
	if number == unix.SYS_OPENAT2 {
		var how [8]byte
		if read(tid, flags, how[:]) < len(how) {
			return false
		}
		flags = nativeEndian.Uint64(how[:])
	}
	return flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0
}

// resolve returns the path that an argument means, with the links to its folder followed.
func resolve(tid int, folder int32, address uint64) (path string, ok bool) {
	name, ok := text(tid, address)
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(name) {
		link := fmt.Sprintf("/proc/%d/cwd", tid)
		if folder != unix.AT_FDCWD {
			link = fmt.Sprintf("/proc/%d/fd/%d", tid, folder)
		}
		base, err := os.Readlink(link)
		if err != nil {
			return "", false
		}
		name = base + "/" + name
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return filepath.Clean(name), true // the call will say so, too
	}
	return filepath.Join(parent, filepath.Base(name)), true
}

// text reads a string of a thread, whose memory may end behind it. An address of 0 is the empty path: utimensat and others
// mean the descriptor then.
func text(tid int, address uint64) (string, bool) {
	var all []byte
	for len(all) < unix.PathMax && address != 0 {
		var part [256]byte
		n := read(tid, address, part[:min(256, 4096-address%4096)])
		if n == 0 {
			return "", false
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(all, part[:end]...)), true
		}
		all, address = append(all, part[:n]...), address+uint64(n)
	}
	return "", address == 0
}

// read copies memory of a thread and returns how many bytes it could.
func read(tid int, address uint64, into []byte) int {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(into)}}
	n, err := unix.ProcessVMReadv(tid, local, remote, 0)
	if err != nil {
		return 0
	}
	return n
}
