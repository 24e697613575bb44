#!/usr/bin/python3
"""lacking.py ROOT MOUNT [OPTION...]: shows the folder ROOT at MOUNT (FUSE), with what real file systems lack.

deny=CALL:ERRNO    CALL of FUSE (chmod, utimens, fsync, link, flock, ...) fails with this errno's name
free=BYTES         statvfs reports so many free bytes
name=BYTES         the longest name
forbidden=CHARS    characters that no name may have (EINVAL)
fold               names that differ in case only are the same
append             files are written in order only, and read only after they were closed
flat               rename knows no flags, there are no links and no modes, as on exFAT

Debian's python3-fusepy. Every other call is passed through.
"""
import errno
import os
import sys
import threading

import fusepy

root, mount, options = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:]
denied, settings = {}, {}
for option in options:
    key, _, value = option.partition("=")
    if key == "deny":
        call, _, code = value.partition(":")
        denied[call] = getattr(errno, code)
    else:
        settings[key] = value or True
if "flat" in settings:
    for call in ("link", "chmod", "chown"):
        denied.setdefault(call, errno.EPERM)
ends, lock = {}, threading.Lock()


def check(call):
    if call in denied:
        raise fusepy.FuseOSError(denied[call])


class Lacking(fusepy.Operations):
    getxattr = None
    setxattr = None
    listxattr = None
    removexattr = None

    def place(self, path):
        name = os.path.basename(path)
        if len(os.fsencode(name)) > int(settings.get("name", 255)):
            raise fusepy.FuseOSError(errno.ENAMETOOLONG)
        if any(c in name for c in settings.get("forbidden", "")):
            raise fusepy.FuseOSError(errno.EINVAL)
        place = root + path
        if "fold" in settings and not os.path.lexists(place):
            folder = os.path.dirname(place)
            for other in os.listdir(folder) if os.path.isdir(folder) else []:
                if other.casefold() == name.casefold():
                    return os.path.join(folder, other)
        return place

    def getattr(self, path, fh=None):
        check("getattr")
        status = os.fstat(fh) if fh is not None else os.lstat(self.place(path))
        return {key: getattr(status, key) for key in (
            "st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_atime", "st_mtime",
            "st_ctime", "st_blocks", "st_ino")}

    def readdir(self, path, fh):
        check("readdir")
        return [".", ".."] + os.listdir(self.place(path))

    def mkdir(self, path, mode):
        check("mkdir")
        os.mkdir(self.place(path), mode)

    def rmdir(self, path):
        os.rmdir(self.place(path))

    def unlink(self, path):
        check("unlink")
        os.unlink(self.place(path))

    def rename(self, old, new):
        check("rename")
        os.rename(self.place(old), self.place(new))

    def link(self, new, old):
        check("link")
        os.link(self.place(old), self.place(new))

    def chmod(self, path, mode):
        check("chmod")
        os.chmod(self.place(path), mode)

    def chown(self, path, user, group):
        check("chown")
        os.chown(self.place(path), user, group)

    def utimens(self, path, times=None):
        check("utimens")
        os.utime(self.place(path), times)

    def open(self, path, flags):
        check("open")
        return os.open(self.place(path), flags)

    def create(self, path, mode, info=None):
        check("create")
        file = os.open(self.place(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with lock:
            ends[file] = 0
        return file

    def read(self, path, size, offset, fh):
        check("read")
        with lock:
            if "append" in settings and fh in ends:
                raise fusepy.FuseOSError(errno.EBADF)
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        check("write")
        with lock:
            if "append" in settings and offset != ends.get(fh, -1):
                raise fusepy.FuseOSError(errno.EINVAL)
            count = os.pwrite(fh, data, offset)
            ends[fh] = offset + count
        return count

    def truncate(self, path, length, fh=None):
        check("truncate")
        if "append" in settings and length:
            raise fusepy.FuseOSError(errno.EPERM)
        os.truncate(self.place(path) if fh is None else fh, length)

    def flush(self, path, fh):
        return 0

    def fsync(self, path, isdata, fh):
        check("fsync")
        os.fsync(fh)

    def release(self, path, fh):
        with lock:
            ends.pop(fh, None)
        os.close(fh)

    def statfs(self, path):
        check("statfs")
        status = os.statvfs(root)
        result = {key: getattr(status, key) for key in (
            "f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_frsize", "f_files", "f_ffree",
            "f_namemax")}
        if "free" in settings:
            blocks = int(settings["free"]) // status.f_frsize
            result["f_bavail"] = result["f_bfree"] = blocks
        result["f_namemax"] = int(settings.get("name", 255))
        return result

    def lock(self, path, fh, command, taken):
        check("lock")
        return 0


fusepy.FUSE(Lacking(), mount, foreground=True, nothreads=True)
