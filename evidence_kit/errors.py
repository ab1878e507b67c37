"""The one error hierarchy of the kit.

Every error that a user can cause is an `EvidenceError`: its message is one Chinese line that names what,
where and what to do; `exit_code` is what the command line ends with, `http_status` what the web answers.
What the system refuses is said in Chinese by `os_reason`.
"""

from __future__ import annotations

import errno


class EvidenceError(Exception):
    """Base of all errors the kit raises on purpose.

    `exit_code` follows the house rule: 1 a verification failed, 2 bad input or usage, 3 a position was found
    neither exact nor moved.
    """

    def __init__(self, message: str, *, exit_code: int = 2, http_status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.http_status = http_status


_REASONS = {
    errno.ENOENT: "不存在",
    errno.EACCES: "没有权限",
    errno.EPERM: "没有权限",
    errno.EEXIST: "已经存在",
    errno.EISDIR: "是文件夹",
    errno.ENOTDIR: "路径中有一段不是文件夹",
    errno.ENOTEMPTY: "文件夹不是空的",
    errno.ENOSPC: "磁盘空间不足",
    errno.EFBIG: "文件过大",
    errno.EROFS: "所在的磁盘只读",
    errno.ENAMETOOLONG: "名字太长",
    errno.ELOOP: "是符号链接或链接成环",
    errno.EBUSY: "正被占用",
    errno.EIO: "读写出错",
    errno.EINVAL: "不支持这样的操作",
    errno.EMFILE: "同时打开的文件太多",
    errno.ENFILE: "同时打开的文件太多",
    errno.ENOMEM: "内存不足",
    errno.ENXIO: "不是普通文件",
}


def os_reason(error: OSError) -> str:
    """Return why the system refused, as a Chinese phrase; the number of an error that is not common."""
    if error.errno is None:
        return "原因不明"
    return _REASONS.get(error.errno, f"系统错误 {error.errno}")
